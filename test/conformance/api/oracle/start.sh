#!/bin/sh
# Starts the oracle and installs CRDs: start.sh DIRECTORY-OF-THE-BINARY CRDS
set -e
crds=$(cd "$2" && pwd)
cd "$1"
export ORACLE_ETCD_DIR="$PWD/etcd" ORACLE_ETCD_PORT="${ORACLE_ETCD_PORT:-16379}"
port="${ORACLE_PORT:-16443}"
rm -rf etcd
mkdir -p certs
mkdir -m 700 etcd
[ -f certs/sa.key ] || openssl genrsa -out certs/sa.key 2048
echo 'oracle-token,admin,admin,"system:masters"' >tokens.csv
setsid ./oracle --etcd-servers="http://127.0.0.1:$ORACLE_ETCD_PORT" --secure-port="$port" --bind-address=127.0.0.1 --advertise-address=127.0.0.1 \
  --cert-dir=certs --token-auth-file=tokens.csv --authorization-mode=AlwaysAllow --anonymous-auth=true \
  --service-account-issuer=https://oracle.invalid --service-account-key-file=certs/sa.key --service-account-signing-key-file=certs/sa.key \
  --service-cluster-ip-range=10.96.0.0/24 --endpoint-reconciler-type=none --feature-gates=APIServerIdentity=false \
  --disable-admission-plugins=ServiceAccount >oracle.log 2>&1 </dev/null &
echo $! >oracle.pid
ask() {
  curl -sS --cacert certs/apiserver.crt -H 'Authorization: Bearer oracle-token' "$@"
}
until ask "https://127.0.0.1:$port/readyz" 2>/dev/null | grep -q '^ok$'; do
  kill -0 "$(cat oracle.pid)"
  sleep 1
done
for file in "$crds"/*.yaml; do
  ask -H 'Content-Type: application/yaml' --data-binary "@$file" -o /dev/null -w "$file %{http_code}\n" \
    "https://127.0.0.1:$port/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
done
curl -sS "http://127.0.0.1:$ORACLE_ETCD_PORT/v3/kv/compaction" -d '{"revision":"10"}' >/dev/null
