"""Routing of items: the first matching rule, and the next provider of that rule, with reasons."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Prefetch, Q, QuerySet

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
    has_refused: bool = False

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


def item_facts(order: Order, item: OrderItem) -> ItemFacts:
    return ItemFacts(
        order.store_id,
        item.product_id,
        item.product.category,
        order.recipient.get("CountryCode", ""),
        item.quantity,
    )


def enabled_rules() -> QuerySet[RoutingRule]:
    """Enabled rules with a provider, in order."""
    rules = RoutingRule.objects.filter(is_enabled=True, choices__isnull=False).distinct()
    return rules.order_by("position", "id")


def providers_for_stores(store_pks: Collection[int] | None) -> QuerySet[Provider]:
    """Enabled providers that, for each of these stores, are in an enabled rule that may match its items.

    None stands for no store but all providers: operators choose from them.
    """
    providers = Provider.objects.filter(is_enabled=True)
    for store_pk in store_pks or ():
        rules = RoutingRule.objects.filter(Q(store=None) | Q(store=store_pk), is_enabled=True)
        providers = providers.filter(pk__in=RoutingChoice.objects.filter(rule__in=rules).values("provider"))
    return providers


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


class Routing:
    """The rules with their providers and today's jobs, read once for the choices of any number of items."""

    def __init__(self, now: datetime) -> None:
        choices = Prefetch("choices", RoutingChoice.objects.order_by("priority", "id"))
        self._rules = list(enabled_rules().prefetch_related(choices, "choices__provider"))
        self._by_rule: Counter[tuple[int, int | None]] = Counter()
        self._in_all: Counter[int] = Counter()
        tallies = RoutingTally.objects.filter(day=now.astimezone(UTC).date())
        for provider, rule, jobs in tallies.values_list("provider", "rule", "jobs"):
            self.count(provider, rule, jobs)

    def count(self, provider_pk: int, rule_pk: int | None, jobs: int = 1) -> None:
        self._by_rule[provider_pk, rule_pk] += jobs
        self._in_all[provider_pk] += jobs

    def decide(
        self,
        facts: ItemFacts,
        *,
        excluded: Collection[int] = (),
        refused_by: Collection[int] = (),
        preferred: Collection[int] = (),
    ) -> Decision:
        """`excluded`, with those in `refused_by`, are not chosen; `preferred` ones are among equal priorities."""
        skipped = []
        for rule in self._rules:
            if reason := mismatch(rule, facts):
                skipped.append((rule, reason))
                continue
            candidates = [self._judge_choice(choice, excluded, refused_by) for choice in rule.choices.all()]
            return Decision(rule, skipped, candidates, pick(candidates, preferred=preferred))
        return Decision(None, skipped, (), None)

    def _judge_choice(
        self, choice: RoutingChoice, excluded: Collection[int], refused_by: Collection[int]
    ) -> Candidate:
        by_rule, in_all = self._by_rule[choice.provider_id, choice.rule_id], self._in_all[choice.provider_id]
        obstacle = _name_obstacle(choice, by_rule, in_all, choice.provider_id in excluded)
        return Candidate(choice, by_rule, obstacle, choice.provider_id in refused_by)


def _name_obstacle(choice: RoutingChoice, by_rule: int, in_all: int, is_excluded: bool) -> str:
    provider = choice.provider
    if not provider.is_enabled:
        return "it is disabled"
    if is_excluded:
        return "it refused this job"
    if choice.daily_capacity is not None and by_rule >= choice.daily_capacity:
        return f"its {choice.daily_capacity:,} jobs per day of this rule are used up"
    if provider.daily_capacity is not None and in_all >= provider.daily_capacity:
        return f"its {provider.daily_capacity:,} jobs per day are used up"
    return f"it is down: {provider.last_error}" if is_down(provider) else ""


def pick(candidates: Sequence[Candidate], *, preferred: Collection[int] = ()) -> Candidate | None:
    """The available provider of the smallest priority: a preferred one, or the furthest behind its share."""
    available = [candidate for candidate in candidates if not candidate.obstacle]
    if not available:
        return None
    priority = min(candidate.choice.priority for candidate in available)
    same_priority = [candidate for candidate in available if candidate.choice.priority == priority]
    if preferred_candidates := [
        candidate for candidate in same_priority if candidate.provider.pk in preferred
    ]:
        return preferred_candidates[0]
    return min(
        same_priority, key=lambda chosen: ((chosen.jobs_today + 1) / chosen.choice.share, chosen.choice.pk)
    )
