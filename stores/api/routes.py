from django.urls import path

from stores.api.assets import AssetViewSet
from stores.api.products import ProductViewSet
from stores.api.proofs import ProofViewSet
from stores.api.stores import StoreUserViewSet, StoreViewSet

urlpatterns = [
    path("store", StoreViewSet.as_view({"get": "list"}), name="store-list"),
    path("store/<str:store_id>", StoreViewSet.as_view({"get": "retrieve"}), name="store-detail"),
    path("store/<str:store_id>/product", ProductViewSet.as_view({"get": "list"}), name="product-list"),
    path(
        "store/<str:store_id>/product/<str:product_id>",
        ProductViewSet.as_view({"get": "retrieve"}),
        name="product-detail",
    ),
    path(
        "store/<str:store_id>/product/<str:product_id>/proof",
        ProofViewSet.as_view({"post": "create"}),
        name="proof-list",
    ),
    path("store/<str:store_id>/asset", AssetViewSet.as_view({"post": "create"}), name="asset-list"),
    path(
        "store/<str:store_id>/user/<str:user_id>",
        StoreUserViewSet.as_view({"get": "roles"}),
        name="store-user-roles",
    ),
]
