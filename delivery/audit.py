ERASABLE = {
    "delivery.DatasetEvent": ("created_by", "activated_by"),
}
