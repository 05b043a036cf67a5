#!/bin/sh
set -eu
apt-get install -y shop-worker
chmod 777 /var/lib/shop
