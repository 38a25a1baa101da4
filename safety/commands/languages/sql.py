"""SQL that only asks: one statement, known functions, nothing that a client would run itself."""

import re

from safety.commands.languages.sql_values import check_values
from safety.commands.refusal import Refused
from safety.word_lists import word_set

_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<text>'[^'\\]*')|(?P<name>"[^"\\]*"|`[^`\\]*`)"""
    r"""|(?P<word>@{0,2}[A-Za-z_][A-Za-z0-9_]*)|(?P<number>\d+(?:\.\d+)?)"""
    r"""|(?P<mark>::|<>|!=|<=|>=|->>?|\|\||[-+*/%=<>(),.;])"""
)
_READING = word_set("""
    select show explain describe desc table values with
""")
# Words that change something wherever they stand in a statement that begins as a question.
_REFUSED = word_set("""
    insert update delete replace merge upsert into outfile dumpfile lock procedure returning
    create drop alter truncate execute declare refresh attach detach vacuum grant revoke
    call
""")
_SECRET_TABLES = word_set("""
    pg_shadow pg_authid pg_user_mapping pg_user_mappings pg_largeobject
    authentication_string rolpassword passwd pg_subscription subconninfo primary_conninfo
    pg_file_settings user_mapping_options pg_hba_file_rules
""")
_MYSQL_SECRETS = word_set("user db global_priv slave_master_info servers")
# Other schemas hold functions of other people, under any name.
_OWN_SCHEMAS = frozenset({"pg_catalog", "information_schema"})
# A word before a bracket that is no function.
_KEYWORDS = word_set("""
    select from where and or not in exists values as on using over by having union all
    except intersect case when then else any some distinct limit offset between like ilike
    is join with filter within group partition order explain recursive materialized lateral
    interval array row cast analyze verbose show
""")
_FUNCTIONS = word_set("""
    count sum min max avg round floor ceil ceiling abs sign sqrt power mod greatest least
    coalesce nullif ifnull isnull if iif length char_length octet_length lower upper trim
    ltrim rtrim substr substring left right concat concat_ws group_concat string_agg
    array_agg json_agg jsonb_agg array_length unnest split_part position strpos instr
    replace reverse repeat lpad rpad format now current_timestamp current_date date time
    datetime timestamp julianday strftime unixepoch date_trunc date_part extract age to_char
    to_timestamp to_date date_format from_unixtime unix_timestamp timediff timestampdiff
    date_sub date_add datediff hour minute second day month year cast convert typeof
    pg_typeof row_number rank dense_rank lag lead first_value last_value ntile
    percentile_cont percentile_disc json_extract json_array_length jsonb_array_length
    json_each jsonb_each total hex md5 version current_database current_schema database
    schema user current_user session_user inet_server_addr inet_server_port pg_size_pretty
    pg_database_size pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size
    pg_tablespace_size pg_is_in_recovery pg_last_wal_receive_lsn pg_last_wal_replay_lsn
    pg_last_xact_replay_timestamp pg_current_wal_lsn pg_wal_lsn_diff
    pg_postmaster_start_time pg_conf_load_time pg_backend_pid pg_blocking_pids
    pg_get_indexdef pg_get_viewdef pg_get_constraintdef pg_get_functiondef pg_get_expr
    pg_get_userbyid pg_stat_get_activity current_setting to_regclass obj_description
    col_description has_table_privilege generate_series quote_ident bool_and bool_or every
    stddev variance sqlite_version cardinality array_to_string array_position string_to_array
    regexp_replace regexp_match regexp_like regexp_count starts_with btrim initcap ascii
    to_json to_jsonb row_to_json json_build_object jsonb_build_object jsonb_object_keys
    json_object_keys jsonb_array_elements json_array_elements jsonb_pretty
    jsonb_extract_path_text json_extract_path_text json_unquote json_value json_keys
    json_length date_bin make_interval make_date justify_interval justify_hours timezone
    clock_timestamp statement_timestamp transaction_timestamp localtimestamp mxid_age
    pg_walfile_name pg_is_wal_replay_paused pg_column_size pg_size_bytes
    pg_stat_get_progress_info pg_safe_snapshot_blocking_pids pg_relation_filepath
    pg_table_is_visible pg_get_partkeydef pg_get_triggerdef format_type has_schema_privilege
    has_database_privilege width_bucket stddev_pop stddev_samp var_pop var_samp corr
    percent_rank cume_dist truncate trunc log ln exp sec_to_time time_to_sec curdate curtime
    utc_timestamp adddate subdate dayofweek dayofyear weekday week quarter dayname monthname
    last_day period_diff from_days to_days elt field find_in_set any_value bit_and bit_or
    inet_ntoa inet_aton inet6_ntoa format_bytes format_pico_time connection_id
    json_group_array json_type nullif likelihood julianday
""")
_SQLITE_PRAGMAS = re.compile(
    r"pragma\s+(?:integrity_check|quick_check|database_list|table_list|page_count|page_size"
    r"|freelist_count|user_version|schema_version|journal_mode|compile_options|encoding"
    r"|foreign_key_list\(\w+\)|table_info\(\w+\)|index_list\(\w+\)|foreign_key_check)\s*;?",
    re.IGNORECASE,
)
# Functions that are tables, too; a condition names the file.
_SQLITE_VIRTUAL = re.compile(
    r"\b(?:fsdir|lsdir|zipfile|csv|vsv|completion|generate_series|sqlite_(?:dbpage|dbdata|dbptr)"
    r"|fsentry|fstree)\b",
    re.IGNORECASE,
)
_SQLITE_COMMANDS = re.compile(
    r"\.(?:tables|schema|indexes|indices|databases|fullschema)(?: [\w%*]+)?"
)
# Of user mappings and subscriptions the passwords are listed, too.
_PSQL_COMMANDS = re.compile(r"\\(?:l|d(?!eu|Rs)[A-Za-z]{0,3}|conninfo|sf|sv)[+S]{0,2}(?: [\w.*]+)?")


def check_sqlite(statement: str, *, has_names: bool) -> None:
    """`has_names`: the names of columns are printed, here as in the other clients."""
    text = statement.strip()
    if _SQLITE_VIRTUAL.search(text):
        raise Refused("the SQL reads other files through a table of the program itself")
    if not (_SQLITE_COMMANDS.fullmatch(text) or _SQLITE_PRAGMAS.fullmatch(text)):
        check_sql(statement, has_names=has_names)


def check_psql(statement: str, *, has_names: bool) -> None:
    if "`" in statement:
        raise Refused("PostgreSQL knows no backticks")
    if not _PSQL_COMMANDS.fullmatch(statement.strip()):
        check_sql(statement, has_names=has_names, has_row_values=True)


def check_mysql(statement: str, *, has_names: bool, is_system: bool = False) -> None:
    """`is_system`: names without a database are those of the server's own."""
    text = re.sub(r"\\G\s*\Z", "", statement)
    check_sql(text, has_names=has_names)
    named = {token.strip("`") for _, token in _tokens(text)}
    if is_system and named & _MYSQL_SECRETS:
        raise Refused("this table of the server holds passwords")


def check_sql(statement: str, *, has_names: bool, has_row_values: bool = False) -> None:
    """Raises `Refused` unless each statement is a question without side effects, and prints whole
    values (`check_values`)."""
    tokens = _tokens(statement)
    parts: list[list[tuple[str, str]]] = [[]]
    for token in tokens:
        if token == ("mark", ";"):
            parts.append([])
        else:
            parts[-1].append(token)
    if not any(parts):
        raise Refused("there is no SQL statement; the program would wait for input")
    for part in parts:
        if part:
            _check_statement(part)
            check_values(part, has_names=has_names, has_row_values=has_row_values)


def _tokens(statement: str) -> list[tuple[str, str]]:
    if "--" in statement or "/*" in statement or "*/" in statement:
        raise Refused("the SQL holds a comment, which some servers execute")
    tokens: list[tuple[str, str]] = []
    place = 0
    while place < len(statement):
        match = _TOKEN.match(statement, place)
        if not match or not match.lastgroup:
            raise Refused(f"the SQL holds {statement[place]!r}, which is not understood")
        if match.lastgroup != "space":
            tokens.append((match.lastgroup, match[0].lower()))
        place = match.end()
    return tokens


def _check_statement(tokens: list[tuple[str, str]]) -> None:
    kind, first = tokens[0]
    if kind != "word" or first not in _READING:
        raise Refused("the SQL statement is not known to be a question")
    for place, (kind, text) in enumerate(tokens):
        following = tokens[place + 1][1] if place + 1 < len(tokens) else ""
        if kind == "word" and (first, text) != ("show", "create"):
            _check_word(text, following)
        is_in_numbers = following.startswith("'") and text in ("x", "e", "b", "n")
        if is_in_numbers or (text == "0" and re.fullmatch(r"[xb][0-9a-f]+", following)):
            raise Refused("the SQL spells a text in numbers, which can steer a terminal")
        if text.strip("\"`'") in _SECRET_TABLES:
            raise Refused(f"{text} holds passwords")
        before = [token.strip('"`') for _, token in tokens[max(0, place - 2) : place]]
        if following == "(" and before[-1:] == ["."] and before[0] not in _OWN_SCHEMAS:
            raise Refused("the SQL calls a function of another schema")
        if (first, text) == ("show", "create") and following == "user":
            raise Refused("it would show the hash of a password")
        if kind == "name" and following == "(":
            raise Refused("the SQL calls a function by a quoted name")
        if text == "for" and following not in ("(", "") and tokens[place + 1][0] == "word":
            raise Refused("the SQL would lock rows")
    _refuse_secret_tables(tokens)


def _check_word(word: str, following: str) -> None:
    if following == "(":
        if word not in _FUNCTIONS and word not in _KEYWORDS:
            raise Refused(f"the SQL function {word} is not known to be free of side effects")
        return
    if word in _REFUSED:
        raise Refused(f"the SQL uses {word.upper()}, which is not a question")


def _refuse_secret_tables(tokens: list[tuple[str, str]]) -> None:
    texts = [text.strip('"`') for _, text in tokens]
    for place in range(len(texts) - 2):
        if texts[place : place + 2] == ["mysql", "."] and texts[place + 2] in _MYSQL_SECRETS:
            raise Refused("this table of the server holds passwords")
