from production.routing.models.rule import RoutingChoice, RoutingRule, RoutingTally

__all__ = ["RoutingChoice", "RoutingRule", "RoutingTally"]
