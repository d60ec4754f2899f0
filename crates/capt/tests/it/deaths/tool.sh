#!/bin/bash
# A Terraform that makes three objects one after the other, and counts everything that it writes. Beside it lie:
#   stores    `each` stores the state after each object, as Terraform does; `end` stores it once, as OpenTofu does within 20 s
#   pause     how long it rests after each write
#   die-at    the number of the write after which it hangs, having made the file `dead`
#   objects   what it has made: an address and an identifier on each line
set -eu
here=$(dirname "$0")
addresses="terraform_data.one terraform_data.two terraform_data.three"

wrote() {
    count=$(($(cat "$here/writes" 2>/dev/null || echo 0) + 1))
    echo "$count" > "$here/writes"
    sleep "$(cat "$here/pause")"
    if [ "$count" = "$(cat "$here/die-at" 2>/dev/null || true)" ]; then
        touch "$here/dead"
        while :; do sleep 1; done
    fi
}

setting() {
    sed -n "s/^ *$1 = \"\(.*\)\"/\1/p" zz_capt_backend_override.tf
}

# Each object of the state is on a line of its own: address=id.
state_file=
if [ -f zz_capt_backend_override.tf ]; then
    state_file="$(setting workspace_dir)/$TF_WORKSPACE/terraform.tfstate"
fi
known() {
    sed -n 's/.*"name":"\([a-z]*\)".*"id":"\([^"]*\)".*/terraform_data.\1=\2/p' "$state_file" 2>/dev/null || true
}
# What the state is called, and how often it was written; a state that begins here has a name of its own.
lineage=$(sed -n 's/.*"lineage":"\([^"]*\)".*/\1/p' "$state_file" 2>/dev/null | grep . || echo scripted)
serial=$(sed -n 's/.*"serial":\([0-9]*\).*/\1/p' "$state_file" 2>/dev/null | grep . || echo 0)
store() {
    serial=$((serial + 1))
    mkdir -p "$(dirname "$state_file")"
    {
        printf '{"version":4,"terraform_version":"1.11.4","serial":%s,"lineage":"%s","outputs":{},"resources":[' "$serial" "$lineage"
        separator=
        for entry in $1; do
            name=${entry%%=*}
            printf '%s\n{"mode":"managed","type":"terraform_data","name":"%s","provider":"provider[\\"terraform.io/builtin/terraform\\"]","instances":[{"schema_version":0,"attributes":{"id":"%s"}}]}' \
                "$separator" "${name#terraform_data.}" "${entry#*=}"
            separator=,
        done
        printf '\n]}\n'
    } > "$state_file.new"
    mv "$state_file.new" "$state_file"
    wrote
}

say() {
    printf '{"@level":"info","@message":"%s","@timestamp":"%s","type":"%s"%s}\n' "$2" "$(date -u +%Y-%m-%dT%H:%M:%S.%NZ)" "$1" "$3"
    wrote
}
hook() {
    printf ',"hook":{"resource":{"addr":"%s","resource_type":"terraform_data"},"action":"%s"%s}' "$1" "$2" "$3"
}

command=$1
shift
case $command in
version)
    echo 'Terraform v1.11.4'
    ;;
init)
    mkdir -p "$TF_DATA_DIR"
    printf '{"version":3,"backend":{"type":"local","config":{"path":"%s","workspace_dir":"%s"},"hash":1}}\n' \
        "$(setting path)" "$(setting workspace_dir)" > "$TF_DATA_DIR/terraform.tfstate"
    ;;
plan)
    destroy=
    for argument; do
        case $argument in
        -out=*) out=${argument#-out=} ;;
        -destroy) destroy=yes ;;
        esac
    done
    : > "$out"
    for address in $addresses; do
        is_known=$(known | grep -c "^$address=" || true)
        if [ -n "$destroy" ]; then
            if [ "$is_known" != 0 ]; then echo "delete $address -" >> "$out"; fi
        elif [ "$is_known" = 0 ]; then
            id=$(sed -n "/to = $address\$/{n;s/.*\"\(.*\)\"/\1/p}" zz_capt_imports.tf 2>/dev/null || true)
            if [ -n "$id" ]; then echo "import $address $id" >> "$out"; else echo "create $address -" >> "$out"; fi
        fi
    done
    if [ -s "$out" ]; then exit 2; fi
    ;;
show)
    file=${*: -1}
    separator=
    printf '{"format_version":"1.2","terraform_version":"1.11.4","applyable":true,"complete":true,"errored":false,"resource_changes":['
    while read -r action address id; do
        importing=
        word=$action
        if [ "$action" = import ]; then
            word=no-op
            importing=",\"importing\":{\"id\":\"$id\"}"
        fi
        printf '%s{"address":"%s","mode":"managed","type":"terraform_data","name":"%s","change":{"actions":["%s"],"before":{},"after":{},"after_unknown":{}%s}}' \
            "$separator" "$address" "${address#terraform_data.}" "$word" "$importing"
        separator=,
    done < "$file"
    printf ']}\n'
    ;;
apply)
    file=${*: -1}
    all=$(known)
    stores=$(cat "$here/stores")
    if [ "$stores" = end ]; then : > "$state_file"; fi
    while read -r action address id; do
        case $action in
        import)
            all="$all $address=$id"
            ;;
        create)
            id=$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
            say apply_start "$address: Creating..." "$(hook "$address" create '')"
            echo "$address $id" >> "$here/objects"
            wrote
            say apply_complete "$address: Creation complete" "$(hook "$address" create ",\"id_key\":\"id\",\"id_value\":\"$id\",\"elapsed_seconds\":0")"
            all="$all $address=$id"
            ;;
        delete)
            say apply_start "$address: Destroying..." "$(hook "$address" delete '')"
            id=$(printf '%s\n' $all | sed -n "s/^$address=//p")
            sed -i "/ $id\$/d" "$here/objects"
            say apply_complete "$address: Destruction complete" "$(hook "$address" delete ',"elapsed_seconds":0')"
            all=$(printf '%s\n' $all | grep -v "^$address=" || true)
            ;;
        esac
        if [ "$stores" = each ]; then store "$all"; fi
    done < "$file"
    store "$all"
    say change_summary "Apply complete!" ',"changes":{"add":0,"change":0,"remove":0,"operation":"apply"}'
    ;;
output)
    echo '{"made":{"sensitive":false,"type":"string","value":"yes"}}'
    ;;
state)
    if [ "$1" = pull ]; then cat "$state_file" 2>/dev/null || true; else exit 1; fi
    ;;
import)
    id=${*: -1}
    arguments=$*
    address=${arguments% *}
    store "$(known) ${address##* }=$id"
    ;;
*)
    exit 1
    ;;
esac
