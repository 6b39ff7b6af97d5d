from delivery.datasets.services import personal_data as datasets
from delivery.selection.services import personal_data as selections
from fulfillment.core.audit.personal_data import PersonalData


def personal_data() -> list[PersonalData]:
    return [*datasets.personal_data(), *selections.personal_data()]
