from django import template

from fulfillment.core.recorded_texts import translated
from fulfillment.core.text import in_percent

register = template.Library()
register.filter("recorded", translated)
register.filter("in_percent", in_percent)
