"""Words for a password in scripts that the patterns, which read bytes of Latin-1, do not know."""

_WORDS = {
    "пароль": "passwd",
    "Пароль": "passwd",
    "ПАРОЛЬ": "passwd",
    "токен": "token",
    "Токен": "token",
    "секрет": "secret",
    "密码": "pw",
    "密碼": "pw",
    "口令": "pw",
    "令牌": "pw",
    "密钥": "pw",
    "パスワード": "dbpwd",
    "暗証番号": "xpwd",
    "비밀번호": "xpwd",
    "암호": "pw",
}
"""Each beside a name that `classify_name` knows, of the same length."""


def in_latin(text: str) -> str:
    """The text with such words written as names that are known: every offset stays."""
    if text.isascii():
        return text
    for word, latin in _WORDS.items():
        if word in text:
            text = text.replace(f"{word}：", f"{latin}:").replace(word, latin)
    return text
