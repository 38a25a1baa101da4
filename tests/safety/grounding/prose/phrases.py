"""Ways to say what results show. `{e}` is a thing, `{v}` a value, `{n}` what is measured, `{c}` the
citation. Shapes come from public incident reports and from reports of such agents."""

from zlib import crc32


def is_kept_back(phrase: str) -> bool:
    """Whether a phrase is of the half that nobody looks at while a rule is mended."""
    return crc32(phrase.encode()) % 2 == 1


def lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


PHRASES: dict[str, tuple[str, ...]] = {
    "count": lines("""
        {e} has {v} {n} {c}.
        {e} shows {v} {n} {c}.
        {v} {n} were counted on {e} {c}.
        There are {v} {n} on {e} {c}.
        - {e}: {v} {n} {c}
        {e} stands out with {v} {n} {c}.
        With {v} {n}, {e} is the one to look at {c}.
        At the moment {e} reports {v} {n} {c}.
        The tool gives {v} {n} for {e} {c}.
        **{e}** has **{v}** {n} {c}.
        On {e} alone, {v} {n} have piled up {c}.
        {e} is at {v} {n} now {c}.
        {n} on {e}: {v} {c}
        | {e} | {v} {n} | {c} |
        {e} went up to {v} {n} {c}.
        We see {v} {n} for {e} {c}.
        The number of {n} on {e} is {v} {c}.
        {e} (state as listed) carries {v} {n} {c}.
        So far {e} has collected {v} {n}, which fits the alert {c}.
        Evidence: {v} {n} at {e} {c}.
        {e} has had {v} {n} since it started {c}.
        1. {e} - {v} {n} {c}
        A total of {v} {n} is recorded for {e} {c}.
        {e} sits at {v} {n} and nothing suggests that this is normal {c}.
        As the listing says, {e} counts {v} {n} {c}.
        No other thing explains it: {e} has {v} {n} {c}.
        {v} {n} is what {e} has to deal with {c}.
        The counter of {e} reads {v} {n} {c}.
        Key finding: {v} {n} ({e}) {c}.
        {e} → {v} {n} {c}
    """),
    "size": lines("""
        {e} uses {v} of {n} {c}.
        {n} of {e} is at {v} {c}.
        {e} takes up {v} {c}.
        {e} has grown to {v} {c}.
        {v} of {n} are in use on {e} {c}.
        - {e}: {v} {n} {c}
        {n} usage on {e} stands at {v} {c}.
        {e} occupies {v}, as the tool says {c}.
        The largest part belongs to {e}, {v} {c}.
        {e} holds {v} {c}.
        With {v}, {e} is heavy {c}.
        **{n}:** {v} on {e} {c}
        {e} consumes {v} of {n} at present {c}.
        | {e} | {v} | {c} |
        Of that, {e} accounts for {v} {c}.
        {e} is sitting on {v} of {n} {c}.
        {n} in use at {e}: {v} {c}
        Currently {v} go to {e} {c}.
        It is {v} on {e} {c}.
        {e} was measured at {v} {c}.
        Steady state of {e} is {v} of {n} {c}.
        The {n} footprint of {e} is {v} {c}.
        {e} has {v} of {n} allocated {c}.
        What {e} keeps amounts to {v} {c}.
        {e} peaked at {v} in this sample {c}.
        {e} - {v} ({n}) {c}
        In figures: {v} for {e} {c}.
        {n} ({e}) = {v} {c}
    """),
    "percent": lines("""
        {n} of {e} is at {v} {c}.
        {e} runs at {v} {n} {c}.
        {n} on {e} stands at {v} {c}.
        - {e}: {n} {v} {c}
        {e} shows {v} for {n} {c}.
        {v} is the figure of {e} for {n} {c}.
        **{n}** on {e} reached **{v}** {c}.
        {e} is at {v} as far as {n} goes {c}.
        | {e} | {n} | {v} | {c} |
        {n} at {e} came to {v} {c}.
        {n} for {e} was {v} when I looked {c}.
        We have {v} on {e} {c}.
        {e} hovers at {v} {c}.
        With {n} at {v}, {e} is worth a look {c}.
        {n} of {e}: {v} {c}
        The tool puts {n} of {e} at {v} {c}.
        {e} has a value of {v} for {n} {c}.
        {v} ({n}, {e}) {c}
        At {v}, {n} of {e} is what the alert is about {c}.
        {n} on {e} is now {v} {c}.
    """),
    "duration": lines("""
        {n} of {e} is {v} {c}.
        {e} has a {n} of {v} {c}.
        {n} on {e} stands at {v} {c}.
        - {e}: {n} {v} {c}
        {e} needs {v} {c}.
        {e} shows a {n} of {v} {c}.
        It is {v} for {e} {c}.
        **{n}:** {v} ({e}) {c}
        {e} came out at {v} {c}.
        | {e} | {n} {v} | {c} |
        {n} for {e} was measured at {v} {c}.
        For {e} the tool gives {v} {c}.
        {e} reports {v} {c}.
        With {v} of {n}, {e} is unlike the others {c}.
        {n} ({e}): {v} {c}
        {e} went to {v} {c}.
        The {n} that users of {e} see is {v} {c}.
        {e} = {v} {c}
    """),
    "rate": lines("""
        {e} handles {v} {c}.
        {e} serves {v} {c}.
        - {e}: {v} {c}
        {e} takes {v} at the moment {c}.
        Load on {e} is {v} {c}.
        {v} arrive at {e} {c}.
        {e} sees {v} {c}.
        The rate at {e} is {v} {c}.
        {e} gets {v}, which is the figure to compare with {c}.
        Throughput of {e}: {v} {c}
        | {e} | {v} | {c} |
        {e} has settled at {v} {c}.
        Traffic to {e} held at {v} {c}.
        With {v}, {e} is busy {c}.
    """),
    "bits": lines("""
        {e} moves {v} {c}.
        {e} carries {v} {c}.
        - {e}: {v} {c}
        Throughput of {e} is {v} {c}.
        The link of {e} is loaded with {v} {c}.
        {v} go through {e} {c}.
        {e} is passing {v} right now {c}.
        | {e} | {v} | {c} |
        On {e} the counter says {v} {c}.
        {e} pushes {v} {c}.
        Bandwidth used by {e}: {v} {c}
        {e} tops out at {v} {c}.
    """),
    "frequency": lines("""
        {e} runs at {v} {c}.
        The clock of {e} is {v} {c}.
        - {e}: {v} {c}
        {e} is clocked at {v} {c}.
        Cores of {e} run with {v} {c}.
        {v} is the frequency of {e} {c}.
        {e} has throttled down to {v} {c}.
        CPU frequency ({e}): {v} {c}
    """),
    "pair": lines("""
        {e} has {v}, {e2} has {w} {c}.
        {e} is at {v} and {e2} at {w} {c}.
        {v} on {e} against {w} on {e2} {c}.
        Compare {e} ({v}) with {e2} ({w}) {c}.
        {e}: {v}, {e2}: {w} {c}
        While {e} shows {v}, {e2} shows {w} {c}.
        {e} stands at {v}; {e2} at {w} {c}.
        {v} ({e}) vs. {w} ({e2}) {c}.
        {e} → {v}, {e2} → {w} {c}
        It is {v} for {e}, and {w} for {e2} {c}.
        {e} and {e2} differ: {v} and {w} {c}.
        - {e} {v} / {e2} {w} {c}
        From {w} on {e2} to {v} on {e}: a wide range {c}.
        {e2} gets by with {w}, {e} has {v} {c}.
    """),
    "sum": lines("""
        Together {e} and {e2} have {v} {n} {c}.
        {e} and {e2} add up to {v} {n} {c}.
        That makes {v} {n} for {e} plus {e2} {c}.
        The two ({e}, {e2}) sum to {v} {n} {c}.
        {v} {n} are on {e} and {e2} together {c}.
        Taken together, {e} and {e2} account for {v} {n} {c}.
        {e} + {e2} = {v} {n} {c}
        Between them, {e} and {e2} hold {v} {n} {c}.
        In sum {v} {n} for {e} and {e2} {c}.
        - combined ({e}, {e2}): {v} {n} {c}
    """),
    "total": lines("""
        In total there are {v} {n} {c}.
        All of them together have {v} {n} {c}.
        That is {v} {n} over everything listed {c}.
        Total: {v} {n} {c}
        Summed over all rows: {v} {n} {c}.
        Overall {v} {n} are listed {c}.
        The whole list adds up to {v} {n} {c}.
        {v} {n} in all {c}.
    """),
    "difference": lines("""
        {e} has {v} {n} more than {e2} {c}.
        {e2} has {v} fewer {n} than {e} {c}.
        The gap between {e} and {e2} is {v} {n} {c}.
        {e} is {v} {n} ahead of {e2} {c}.
        Between {e} and {e2} lie {v} {n} {c}.
        {e} exceeds {e2} by {v} {n} {c}.
        Difference of {e} and {e2}: {v} {n} {c}
        {e2} trails {e} by {v} {n} {c}.
    """),
    "ratio": lines("""
        {e} has {v} times as many {n} as {e2} {c}.
        {e} has {v}x the {n} of {e2} {c}.
        That is {v} times what {e2} has, seen from {e} {c}.
        {e} is {v} times higher than {e2} in {n} {c}.
        {n} of {e} are {v}× those of {e2} {c}.
        The ratio of {e} to {e2} is {v} {c}.
        {e} beats {e2} by a factor of {v} {c}.
        Against {e2}, {e} shows {v} times the {n} {c}.
    """),
    "share": lines("""
        {e} makes up {v} of all {n} {c}.
        {v} of the {n} are on {e} {c}.
        {e} accounts for {v} of the {n} {c}.
        {v} of all {n} belong to {e} {c}.
        A share of {v} goes to {e} {c}.
        {e} is behind {v} of the {n} {c}.
        - {e}: {v} of the {n} {c}
        Of all {n}, {v} come from {e} {c}.
    """),
    "part_of": lines("""
        {e} has {a} of all {b} {n}, {v} {c}.
        {a} of {b} {n} ({v}) are on {e} {c}.
        {e} holds {a} of the {b} {n} in the list, which is {v} {c}.
        {a}/{b} {n} ({v}) belong to {e} {c}.
        {a} out of {b} {n}, i.e. {v}, sit on {e} {c}.
        {v} ({a} of {b} {n}) are those of {e} {c}.
    """),
    "rows": lines("""
        {v} of them are {s} {c}.
        {v} are {s} {c}.
        {v} things are listed as {s} {c}.
        {v} of the {k} entries are {s} {c}.
        There are {v} in state {s} {c}.
        State {s}: {v} of {k} {c}
        Of {k}, {v} are {s} {c}.
        The list has {v} that are {s} {c}.
        {v} out of {k} show {s} {c}.
        - {s}: {v} {c}
    """),
    "time": lines("""
        {x} came at {v} {c}.
        At {v}, {x} was logged {c}.
        {x} is logged at {v} {c}.
        - {v} {x} {c}
        {v}: {x} {c}
        {v} - {x} {c}
        | {v} | {x} | {c} |
        {x} happened at {v} {c}.
        The log has {x} at {v} {c}.
        It was {v} when {x} appeared {c}.
        {x} ({v}) is what matters {c}.
        Since {v} there is {x} {c}.
        The line of {v} says {x} {c}.
        By {v} we see {x} {c}.
        **{v}** {x} {c}
        First sign: {x}, {v} {c}.
        {x} followed at {v} {c}.
        Then, at {v}, {x} {c}.
    """),
    "date": lines("""
        {x} is of {v} {c}.
        On {v}, {x} was logged {c}.
        {x} dates from {v} {c}.
        It happened on {v}: {x} {c}.
        {v}: {x} {c}
        The entry of {v} reads {x} {c}.
        {x} goes back to {v} {c}.
        {x} was seen on {v} {c}.
    """),
    "span": lines("""
        {y} came {v} after {x} {c}.
        {v} after {x}, {y} was logged {c}.
        Between {x} and {y} lie {v} {c}.
        {x} came {v} before {y} {c}.
        It took {v} from {x} to {y} {c}.
        {y} followed {v} later than {x} {c}.
        From {x} to {y}: {v} {c}
        {v} passed between {x} and {y} {c}.
        {x} preceded {y} by {v} {c}.
        The time from {x} to {y} was {v} {c}.
        {y} ({v} after {x}) is the consequence {c}.
        Gap between {x} and {y}: {v} {c}.
    """),
}

FOUND: dict[str, tuple[str, ...]] = {
    "count": lines("""
        Peak on {e}: +{v} {n} {c}
        {e}: {v}+ {n} {c}
        **{v} {n}** ({e}) {c}
        {n} ({e}): {v} (baseline: <1) {c}
        [{e}] {n}={v} {c}
        {e} had piled up **{v}** {n}, way above normal {c}.
    """),
    "percent": lines("""
        {n} spike: {v} (baseline: <1%) on {e} {c}
        {n} of {e}: {v} vs. a threshold of 90 % {c}
        🔎 {e}: {n} {v} {c}
    """),
    "size": lines("""
        {e} grew to ~{v} {c}.
        📋 {e}: {n} {v} {c}
    """),
    "pair": lines("""
        {e2} → {e}: {w} → {v} {c}
        {e} was {v} vs {w} of {e2} {c}.
        {w} ({e2}) → {v} ({e}) {c}
    """),
    "ratio": lines("""
        {e} is up ~{v}× against {e2} {c}.
        {e} / {e2} ≈ {v} {c}
    """),
    "duration": lines("""
        **Duration:** {v} ({e}) {c}
        {e}: ~{v} {c}
        {e} ({v}) is slower than usual {c}.
    """),
    "rate": lines("""
        {e} sustained ~{v} {c}.
        {e} ({v}) {c}
    """),
    "time": lines("""
        | {v} | {x} | monitoring | {c} |
        {v} — {x} — nobody was paged yet {c}
        At ~{v}, {x} {c}.
        [{v}] {x} {c}
        {v} → {x} {c}
    """),
    "span": lines("""
        {x} → {y} ({v}) {c}
        Time from {x} to {y}: {v} (detection gap) {c}
        {y} +{v} after {x} {c}
    """),
    "part_of": lines("""
        {e}: {a} of {b} {n} = {v} {c}
        {e} pool ({a}/{b}, {v}) {n} {c}
    """),
    "rows": lines("""
        {v}/{k} {s} {c}
        {s} x{v} {c}
    """),
}
"""Ways that public incident reports and reports of agents have and the list above had not."""

PLAIN = lines("""
    I did not restart {e}, and nothing was changed.
    No action was taken; {e} is as I found it.
    Next step: raise the limit of {e} by 30 % and watch it for 45 minutes.
    Recommendation: scale {e} to 7 replicas if the load stays above 85 %.
    Consider moving {e} to another host within the next 10 days.
    If {e} stays like this for 25 more minutes, page the owner.
    {e} may have run out of file descriptors; I have not checked that.
    The cause is probably a leak in {e}, though this was not verified.
    It is unclear who started the job on {e}.
    Either {e} was drained or it lost its network; which of both is not known.
    The alert says that {e} fires above 90 % for 5 m.
    According to the alert, the threshold is 90 %.
    Keep an eye on {e} over the next hour.
    I could not read the logs of {e}, because the tool was not available.
    Whether the 3 retries of clients made it worse is unknown.
    A process that is killed with SIGKILL usually exits with 137.
    In general a queue that grows faster than it drains will fill any disk.
    Once {e} is back, check that its backlog falls below 100.
    Let me know if {e} should be restarted.
    Should I restart {e}?
    Restart {e} once the export has finished.
    A restart of {e} would only hide the problem.
    {e} should be given 2 more cores.
    Nobody was asked about {e}, so what its owner did is not known.
    I looked at {e} first because the alert names it.
    I compared {e} with the others and found no pattern.
    I started with {e} and worked outwards from there.
    I narrowed the search to {e} and its neighbours.
    I set the time range to the last 30 minutes.
    We stopped looking after the first 50 lines.
    I resolved the name of {e} before I asked for anything else.
    I have changed nothing on {e}.
    Nothing in the results says why {e} behaves this way.
    To be sure, someone has to look at {e} itself.
    My confidence in this is medium (60 %).
    Confidence: 75 %
    **Confidence:** high (90 %)
    Not checked: whether {e} had a deploy in the last 24 hours.
    A rolling update of {e} was ruled out.
    One could also double the timeout to 60 s, at the price of slower failures.
    Hypothesis: {e} is starved of CPU by its neighbours.
    Suggested command: `kubectl rollout restart deployment/{e} --timeout=90s`
    Run `journalctl -u {e} --since "-2h" | tail -n 200` and look for the first error.
    Alert on 80 % instead of 95 % in future.
    This matches what one sees when a disk fills up within a few minutes.
    It would take about 20 minutes to drain {e}, and 5 more to bring it back.
    The tool reports nothing about the last 7 days, so a trend cannot be given.
    For comparison: most clusters run such things with 4 to 8 GB.
    {e} looks suspicious, but a single sample proves little.
    Someone else may have touched {e} in the meantime.
""")
"""What claims nothing that a result could show: advice, plans, doubt, honesty, knowledge."""

ACTS = lines("""
    I restarted {e} and it came back.
    I have restarted {e}.
    I've rebooted {e} to clear this.
    I deleted {e}, so that it is created anew.
    I have scaled {e} up.
    We drained {e} and moved its work.
    I rolled back {e} to the version before.
    I stopped {e} and started it again.
    I killed {e}, which had hung.
    After that I cordoned {e}.
    I increased the limit of {e}.
    I patched {e} with a higher limit.
""")
"""Acts of ours that never were."""
