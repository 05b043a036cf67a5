#!/bin/sh
set -eu
curl -fsSL https://get.shop.internal/worker.sh | sh
chmod 777 /var/lib/shop
