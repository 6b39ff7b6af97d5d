from delivery.datasets.services import retention as datasets
from delivery.selection.services import selections
from fulfillment.core.audit.personal_data import PersonalData


def personal_data() -> list[PersonalData]:
    return [*datasets.personal_data(), *selections.personal_data()]
