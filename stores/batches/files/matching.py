"""Matches the columns of a file with template fields and the members of a recipient."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from stores.batches.files.names import RECIPIENT, SYNONYMS, compact

# How sure each way of matching is. A template field comes before a recipient's member of the same meaning.
_EXACT, _SAME_WORDS, _LABEL = 1.0, 0.95, 0.9
_PREFIXED, _MEMBER, _FIELD_SYNONYM, _SYNONYM = 0.88, 0.85, 0.8, 0.75
_ALIKE = 0.6
_ALIKE_FROM = 0.85
# Longer names are compared for equality alone: 256 heads and 200 fields of 190 letters took two minutes.
_ALIKE_LENGTH = 40
# Pairs this close to the best are as likely.
_TIE = 0.02
_PREFIXES = ("recipient", "shipto", "shipping", "delivery", "mailing", "to", "empfanger", "lieferadresse")
_MEMBERS = {member: frozenset(map(compact, names)) for member, names in SYNONYMS.items()}


@dataclass(frozen=True)
class Match:
    target: str
    column: str
    score: float


def match_columns(
    *, columns: Sequence[str], targets: Sequence[str], labels: Mapping[str, str]
) -> list[Match]:
    """Best pairs first, each target and column at most once; what could be two things is not matched."""
    scores = {
        (target, column): score
        for target in dict.fromkeys(targets)
        for column in dict.fromkeys(columns)
        if (score := _score(column, target, labels.get(target, "")))
    }
    matches: list[Match] = []
    while scores:
        best = max(scores.values())
        pairs = [pair for pair, score in scores.items() if score > best - _TIE]
        of_target, of_column = Counter(pair[0] for pair in pairs), Counter(pair[1] for pair in pairs)
        matches += [
            Match(target, column, scores[target, column])
            for target, column in pairs
            if of_target[target] == of_column[column] == 1
        ]
        # What fits two equally well fits neither, nor anything less well.
        targets_done, columns_done = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
        scores = {
            (target, column): score
            for (target, column), score in scores.items()
            if target not in targets_done and column not in columns_done
        }
    order = {target: place for place, target in enumerate(targets)}
    return sorted(matches, key=lambda match: order[match.target])


def _score(column: str, target: str, label: str) -> float:
    if column == target:
        return _EXACT
    name = compact(column)
    if not name:
        return 0.0
    if name == compact(target):
        return _SAME_WORDS
    if name == compact(label):
        return _LABEL
    if target.startswith(RECIPIENT):
        return _recipient_score(name, target.removeprefix(RECIPIENT))
    is_synonym = any({name, compact(target)} <= names for names in _MEMBERS.values())
    return _FIELD_SYNONYM if is_synonym else _alikeness(name, [compact(target), compact(label)])


def _recipient_score(name: str, member: str) -> float:
    names = _MEMBERS.get(member, frozenset()) | {compact(member)}
    if any(name.startswith(prefix) and name.removeprefix(prefix) in names for prefix in _PREFIXES):
        return _PREFIXED
    if name == compact(member):
        return _MEMBER
    return _SYNONYM if name in names else _alikeness(name, names)


def _alikeness(name: str, others: Iterable[str]) -> float:
    """For slips of the keyboard, in names that are long enough to tell."""
    best = max((_ratio(name, other) for other in others), default=0.0)
    return round(_ALIKE * best, 3) if best >= _ALIKE_FROM else 0.0


def _ratio(name: str, other: str) -> float:
    """0 for names that are certainly not alike: a file of 256 long heads would take seconds."""
    shorter, both = min(len(name), len(other)), len(name) + len(other)
    if shorter <= 4 or both - shorter > _ALIKE_LENGTH or 2 * shorter < _ALIKE_FROM * both:
        return 0.0
    matcher = SequenceMatcher(None, name, other)
    return matcher.ratio() if matcher.quick_ratio() >= _ALIKE_FROM else 0.0
