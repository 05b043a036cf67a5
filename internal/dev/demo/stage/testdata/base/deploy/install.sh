#!/bin/sh
set -eu
apt-get install -y shop-worker
