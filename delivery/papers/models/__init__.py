from delivery.papers.models.official_form import OfficialForm
from delivery.papers.models.postage_price import PostagePrice

__all__ = ["OfficialForm", "PostagePrice"]
