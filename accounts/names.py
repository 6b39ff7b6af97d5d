"""User names: the form in which they are compared, and the rules for new ones.

Names follow the PRECIS profile UsernameCaseMapped (RFC 8265), are of one script (UTS 39, "highly restrictive"), and
hold nothing that is written around a name: `@` stands before a domain, `:` before a password, `/` in addresses.
A name is stored and shown as it was sent; compared is its prepared form alone, in PostgreSQL and here.
"""

import unicodedata
from collections.abc import Iterable

from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from fontTools.unicodedata import script_extension, script_name
from precis_i18n import get_profile
from precis_i18n.profile import Profile

MAX_NAME_LENGTH = 64
# A name in its longest spelling, each letter with its marks apart. Normalizing takes quadratic time.
MAX_PREPARED_LENGTH = 4 * MAX_NAME_LENGTH
FORBIDDEN = "@:/\\"
PATTERN = r"^[^\s\x00-\x1F\x7F-\x9F@:/\\]{1,64}$"
HELP = gettext_lazy("Use 1 to 64 letters, digits and marks from one script, without spaces and @ : / \\")
# What AUTH_PASSWORD_VALIDATORS ask for.
PASSWORD_HELP = gettext_lazy(
    "Use at least 8 characters. Do not use a common password, digits alone, or a password like your name "
    "or e-mail address."
)

# Writing systems that use several scripts (UTS 39, 5.1).
AUGMENTED = {
    "Hani": {"Hanb", "Jpan", "Kore"},
    "Hira": {"Jpan"},
    "Kana": {"Jpan"},
    "Hang": {"Kore"},
    "Bopo": {"Hanb"},
}
WITH_LATIN = frozenset({"Hanb", "Jpan", "Kore"})
# Scripts that occur with all others: Common and Inherited.
OF_ALL = frozenset({"Zyyy", "Zinh"})
REASONS = {
    "has_compat": gettext_lazy("{letter} is a compatibility form of {plain}; use plain letters and digits"),
    "spaces": gettext_lazy("a name has no spaces"),
    "controls": gettext_lazy("{letter} is a control character"),
    "unassigned": gettext_lazy("{letter} is not a character of Unicode {version}"),
    "bidi_rule": gettext_lazy(
        "it mixes letters that are written from left to right with letters written from right to left"
    ),
    "not_idempotent": gettext_lazy(
        "each preparation for comparing changes it again; use plain letters and digits"
    ),
    "empty": gettext_lazy("it has no letter, digit or mark"),
}
_PROFILE: Profile = get_profile("UsernameCaseMapped")


def prepared_name(name: str) -> str:
    """The form two names are compared by; of any text, also of one that could not become a name.

    For each valid name this is what RFC 8265 calls its prepared form: narrow letters, lower case, composed (NFC).
    Longer text than any name stays as it is, and so equals none.
    """
    if len(name) > MAX_PREPARED_LENGTH:
        return name
    mapped = _PROFILE.case_mapping_rule(_PROFILE.width_mapping_rule(name))
    return str(_PROFILE.normalization_rule(mapped))


def split_sign_in_name(typed: str) -> tuple[str, str]:
    """The prepared name and the domain of a typed name; without a domain it is the default tenant's."""
    name, separator, domain = typed.rpartition("@")
    if not separator:
        name, domain = typed, settings.DEFAULT_TENANT_DOMAIN
    return prepared_name(name), domain.lower()


def validate_username(name: str) -> None:
    """Raises ValidationError for a name that a new user must not have."""
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise ValidationError(
            _("A user name has 1 to %(max_name_length)s characters; this one has %(name)s.")
            % {"max_name_length": MAX_NAME_LENGTH, "name": len(name)},
            code="invalid",
        )
    try:
        prepared = _PROFILE.enforce(name)
    except UnicodeEncodeError as error:
        raise _refuse_name(_find_reason(error)) from error
    # Narrowing full-width letters can produce an `@`.
    for letter in prepared:
        if letter in FORBIDDEN:
            raise _refuse_name(
                _("it contains %(letter)s (not allowed: %(forbidden)s)")
                % {"letter": letter, "forbidden": " ".join(FORBIDDEN)}
            )
    if len(prepared) > MAX_NAME_LENGTH:
        raise _refuse_name(
            _("its prepared form has more than %(max_name_length)s characters")
            % {"max_name_length": MAX_NAME_LENGTH}
        )
    if mixed := _mixed_scripts(prepared):
        raise _refuse_name(
            _("it mixes letters of several scripts, %(scripts)s; use one") % {"scripts": mixed}
        )


def _refuse_name(reason: str) -> ValidationError:
    return ValidationError(_("This cannot be a user name: %(reason)s.") % {"reason": reason}, code="invalid")


def _find_reason(error: UnicodeEncodeError) -> str:
    letter = str(error.object)[error.start : error.end]
    reason = REASONS.get(error.reason.rpartition("/")[2], _("{letter} is not allowed in it"))
    return reason.format(
        letter=" ".join(map(_describe_letter, letter)),
        plain=repr(unicodedata.normalize("NFKC", letter)),
        version=unicodedata.unidata_version,
    )


def _describe_letter(letter: str) -> str:
    quoted = f"{letter!r} " if letter.isprintable() else ""
    return f"{quoted}(U+{ord(letter):04X})"


def _mixed_scripts(prepared: str) -> str:
    """The names of mixed scripts; empty for one script or an allowed mix (UTS 39, "highly restrictive")."""
    scripts_of_letters = [scripts for letter in prepared if not (scripts := _find_scripts(letter)) <= OF_ALL]
    if (
        _common_scripts(scripts_of_letters)
        or _common_scripts(scripts for scripts in scripts_of_letters if "Latn" not in scripts) & WITH_LATIN
    ):
        return ""
    own = {script for letter in prepared if (script := min(script_extension(letter))) not in OF_ALL}
    return " and ".join(sorted(map(script_name, own)))


def _find_scripts(letter: str) -> set[str]:
    own = set(script_extension(letter))
    return own.union(*(AUGMENTED.get(script, set()) for script in own))


def _common_scripts(scripts_of_letters: Iterable[set[str]]) -> set[str]:
    shared: set[str] | None = None
    for scripts in scripts_of_letters:
        shared = scripts if shared is None else shared & scripts
    return {"Zyyy"} if shared is None else shared
