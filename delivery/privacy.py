from delivery.datasets.services.personal_data import personal_data

__all__ = ["personal_data"]
