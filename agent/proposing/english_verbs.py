"""English verbs of the past as "did" wants them: "dropped" → "drop"."""

import re

_IRREGULAR = {
    past: base
    for pair in (
        "came:come went:go took:take ran:run lost:lose fell:fall broke:break rose:rise made:make "
        "left:leave met:meet got:get gave:give kept:keep told:tell said:say saw:see found:find felt:feel "
        "became:become began:begin grew:grow held:hold brought:bring bought:buy sent:send spent:spend "
        "built:build paid:pay sold:sell won:win wrote:write drove:drive froze:freeze burst:burst "
        "shut:shut cut:cut led:lead meant:mean sank:sink spoke:speak chose:choose stood:stand"
    ).split()
    for past, base in [pair.split(":")]
}
_DOUBLED = re.compile(r"(\w*[aeiou])([bdgmnprt])\2ed")
_WITHOUT_E = re.compile(
    r"(\w+(?:ll|ss|sh|ch|sk|st|ct|pt|nt|rt|lt|nd|ld|rd|ck|wn|en|on|er|ow|ew|ay|ey|oy|rn|rm|lp|mp|lk|rk|nk|ai[lnrt]|ea[dlt]|oa[dn]"
    r"|oin|ook|eed|eet|ff|ss|sit|fit|mit|al|x))ed"
)
_WITH_E = re.compile(
    r"(\w+(?:[cuvz]|(?:[aeiou]|[lnpr])s|[dr]g|ang|ir|ur|ar|[bdkptfgz]l|in|id|od|ud|iz|ot|ut|ok|ik|op|ap|am|um|im)e)d"
)


def base_form(past: str) -> str | None:
    """None where the rules are not sure of it."""
    if past in _IRREGULAR:
        return _IRREGULAR[past]
    if past.endswith("ied"):
        return f"{past[:-3]}y"
    if doubled := _DOUBLED.fullmatch(past):
        return doubled[1] + doubled[2]
    found = _WITHOUT_E.fullmatch(past) or _WITH_E.fullmatch(past)
    return found[1] if found else None
