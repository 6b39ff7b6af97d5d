"""Routing of items: the first matching rule, and the next provider of that rule, with reasons."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Q, QuerySet, Sum

from production.providers.models import Provider
from production.providers.selectors import is_down
from production.routing.models import RoutingChoice, RoutingRule, RoutingTally
from stores.orders.models import Order, OrderItem


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """The facts of an item that rules check."""

    store_pk: int
    product_pk: int
    category: str
    country: str
    quantity: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A provider of the rule; `obstacle` says why it is unavailable, or is ""."""

    choice: RoutingChoice
    jobs_today: int
    obstacle: str
    is_full: bool = False

    @property
    def provider(self) -> Provider:
        return self.choice.provider


@dataclass(frozen=True, slots=True)
class Decision:
    """`passed` are the earlier rules, each with the reason why it did not match."""

    rule: RoutingRule | None
    passed: Sequence[tuple[RoutingRule, str]]
    candidates: Sequence[Candidate]
    chosen: Candidate | None


def facts_of(order: Order, item: OrderItem) -> ItemFacts:
    return ItemFacts(
        order.store_id,
        item.product_id,
        item.product.category,
        order.recipient.get("CountryCode", ""),
        item.quantity,
    )


def enabled_rules() -> list[RoutingRule]:
    """Enabled rules with a provider, in order."""
    rules = RoutingRule.objects.filter(is_enabled=True, choices__isnull=False).distinct()
    return list(rules.order_by("position", "id"))


def providers_for_stores(store_pks: Collection[int]) -> QuerySet[Provider]:
    """Enabled providers that, for each of these stores, are in an enabled rule that may match its items."""
    found = Provider.objects.filter(is_enabled=True)
    for store_pk in store_pks:
        rules = RoutingRule.objects.filter(Q(store=None) | Q(store=store_pk), is_enabled=True)
        found = found.filter(pk__in=RoutingChoice.objects.filter(rule__in=rules).values("provider"))
    return found


def first_rule(rules: Iterable[RoutingRule], facts: ItemFacts) -> RoutingRule | None:
    return next((rule for rule in rules if not mismatch(rule, facts)), None)


def mismatch(rule: RoutingRule, facts: ItemFacts) -> str:
    """Why the rule does not match; "" if it does."""
    if rule.store_id is not None and rule.store_id != facts.store_pk:
        return "it is for another store"
    if rule.product_id is not None and rule.product_id != facts.product_pk:
        return "it is for another product"
    if rule.category and rule.category.casefold() != facts.category.casefold():
        return f"it is for the category {rule.category}"
    if rule.countries and facts.country not in rule.countries:
        return f"it is for {', '.join(rule.countries)}"
    if rule.minimum_quantity is not None and facts.quantity < rule.minimum_quantity:
        return f"it is for {rule.minimum_quantity:,} and more"
    if rule.maximum_quantity is not None and facts.quantity > rule.maximum_quantity:
        return f"it is for {rule.maximum_quantity:,} at most"
    return ""


def decide(
    facts: ItemFacts, *, now: datetime, excluded: Collection[int] = (), preferred: int | None = None
) -> Decision:
    """`excluded` are keys of providers that refused; `preferred` is chosen among those of equal priority."""
    passed = []
    for rule in enabled_rules():
        if reason := mismatch(rule, facts):
            passed.append((rule, reason))
            continue
        candidates = candidates_of(rule, now=now, excluded=excluded)
        return Decision(rule, passed, candidates, pick(candidates, preferred=preferred))
    return Decision(None, passed, (), None)


def candidates_of(rule: RoutingRule, *, now: datetime, excluded: Collection[int] = ()) -> list[Candidate]:
    choices = list(rule.choices.select_related("provider").order_by("priority", "id"))
    today = now.astimezone(UTC).date()
    tallies = RoutingTally.objects.filter(day=today, provider__in=[one.provider_id for one in choices])
    by_rule = dict(tallies.filter(rule=rule).values_list("provider", "jobs"))
    in_all = dict(tallies.values_list("provider").annotate(jobs=Sum("jobs")))
    return [
        _candidate(
            choice,
            by_rule.get(choice.provider_id, 0),
            in_all.get(choice.provider_id, 0),
            choice.provider_id in excluded,
        )
        for choice in choices
    ]


def _candidate(choice: RoutingChoice, by_rule: int, in_all: int, is_excluded: bool) -> Candidate:
    provider = choice.provider
    if not provider.is_enabled:
        return Candidate(choice, by_rule, "it is disabled")
    if is_excluded:
        return Candidate(choice, by_rule, "it refused this job")
    if choice.daily_capacity is not None and by_rule >= choice.daily_capacity:
        text = f"its {choice.daily_capacity:,} jobs per day of this rule are used up"
        return Candidate(choice, by_rule, text, is_full=True)
    if provider.daily_capacity is not None and in_all >= provider.daily_capacity:
        text = f"its {provider.daily_capacity:,} jobs per day are used up"
        return Candidate(choice, by_rule, text, is_full=True)
    if is_down(provider):
        return Candidate(choice, by_rule, f"it is down: {provider.last_error}")
    return Candidate(choice, by_rule, "")


def pick(candidates: Sequence[Candidate], *, preferred: int | None = None) -> Candidate | None:
    """The available provider of the smallest priority: the preferred one, or the furthest behind its share."""
    free = [one for one in candidates if not one.obstacle]
    if not free:
        return None
    first = min(one.choice.priority for one in free)
    level = [one for one in free if one.choice.priority == first]
    if wanted := [one for one in level if one.provider.pk == preferred]:
        return wanted[0]
    return min(level, key=lambda one: ((one.jobs_today + 1) / one.choice.share, one.choice.pk))
