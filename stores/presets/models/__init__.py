from stores.presets.models.output_profile import OutputProfile
from stores.presets.models.print_preset import PrintPreset

__all__ = ["OutputProfile", "PrintPreset"]
