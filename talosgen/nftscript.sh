# Above this line stand this machine's values: name, table, scratch, mac, alias,
# sender, and the nft text in three parts: before, marking, after.
set -u
newline='
'
nic=''          # the kernel's name of the external NIC, empty while unknown
nic_said=''     # what was last said of it
rule=''         # the marking rule, empty without a NIC: replies still go home
learnt=unknown  # the rule that expected was learnt for
expected=''     # how this nft lists our table
settled=''      # the last whole listing that was found right
loaded=''       # not empty after the first load
repairs=0       # passes in a row that had to install the table
trouble=''      # what was last said of a failure, empty when there is none
pause=2         # seconds to the next pass
nap=''          # the sleep that is waited for
stopping=''     # not empty after SIGTERM

say() { printf '%s: %s\n' "$name" "$1" >&2; }

say_trouble() {
  [ "$trouble" = "$1" ] || say "$1"
  trouble=$1
}

# read_file FILE: its first line in value, empty when it is gone.
read_file() {
  value=
  { read -r value <"$1"; } 2>/dev/null
}

# on_top LINK: it is a VLAN, bond or bridge over other links, or a port of one,
# and has its MAC from there.
on_top() {
  [ ! -e "$1/master" ] || return 0
  for lower in "$1"/lower_*; do
    [ ! -e "$lower" ] || return 0
  done
  return 1
}

# find_nic: the matching names in found, each behind a blank. A NIC with a device
# goes before a virtual one of the same MAC; the alias counts when no MAC matches.
find_nic() {
  real='' virtual='' aliased=''
  for link in /sys/class/net/*; do
    read_file "$link/address"
    if [ "$value" != "$mac" ]; then
      read_file "$link/ifalias"
      [ "$value" != "$alias" ] || aliased="$aliased ${link##*/}"
    elif [ -e "$link/device" ]; then
      real="$real ${link##*/}"
    elif ! on_top "$link"; then
      virtual="$virtual ${link##*/}"
    fi
  done
  found=$real
  [ -n "$found" ] || found=$virtual
  [ -n "$found" ] || found=$aliased
}

# follow_nic: nic and rule for what is there now. Of several links that match, the
# one in use stays: a stray copy of its MAC must not cut the node off.
follow_nic() {
  find_nic
  case $found in
  '')
    nic=''
    state="no link has MAC $mac or alias $alias: no new connection is marked, marked ones are kept"
    ;;
  ' '*' '*)
    case "$found " in *" $nic "*) ;; *) nic='' ;; esac
    state="refusing to choose between links that match MAC $mac or alias $alias:$found"
    ;;
  ' '*[!A-Za-z0-9._@+-]*)
    nic=''
    state="refusing link$found: nft cannot be told this name"
    ;;
  *)
    nic=${found# }
    state="external NIC is $nic"
    ;;
  esac
  [ "$nic_said" = "$state" ] || say "$state"
  nic_said=$state
  rule=''
  [ -z "$nic" ] || rule="iifname \"$nic\" $marking"
}

# load TABLE FLAGS: put the whole table in place in one transaction; the old one
# counts until the new one does. What nft complains of is in output.
load() {
  output=$(printf '%s\n' "add table inet $1" "delete table inet $1" \
    "table inet $1 {" "$2" "$before" "$rule" "$after" '}' | nft -f - 2>&1)
}

# list TABLE: nft's listing without counter values in output.
list() { output=$(nft -s list table inet "$1" 2>&1); }

# strip FLAGS: output without what may differ between equal tables (its name, a
# comment) and without the line FLAGS, in stripped.
strip() {
  stripped=
  while IFS= read -r line; do
    case $line in
    '' | 'table inet '* | '	comment "'* | "	$1") ;;
    *) stripped=$stripped$line$newline ;;
    esac
  done <<END
$output
END
}

# learn: nft never lists what it was given, and each version another text. So the
# same rules go into a dormant table of another name, which no packet meets, and
# its listing is what ours must look like.
learn() {
  [ "$learnt" != "$rule" ] || return 0
  load "$scratch" 'flags dormant' || return 1
  if list "$scratch"; then
    strip 'flags dormant'
    expected=$stripped learnt=$rule settled=''
  fi
  nft delete table inet "$scratch" 2>/dev/null
  [ "$learnt" = "$rule" ]
}

# install REASON: load our table and look whether it stands.
install() {
  load "$table" '' || return 1
  loaded=yes
  list "$table" || return 1
  strip ''
  if [ "$stripped" != "$expected" ]; then
    output='something else changed it at the same moment'
    return 1
  fi
  settled=$output repairs=$((repairs + 1))
  case $repairs in
  1 | 2) say "table inet $table $1: installed" ;;
  3) say "table inet $table $1: installed, again; not said any more until it stays" ;;
  esac
}

# check: one pass; fails when the table is not known to be right afterwards.
check() {
  if ! learn; then
    # Rather a table that cannot be compared than none.
    problem=$output
    [ -n "$loaded" ] || ! load "$table" '' || loaded=yes
    output=$problem
    return 1
  fi
  if list "$table"; then
    if [ "$output" = "$settled" ]; then
      repairs=0
      return 0
    fi
    strip ''
    if [ "$stripped" = "$expected" ]; then
      say "table inet $table is in place"
      settled=$output repairs=0
      return 0
    fi
    install 'differed'
    return
  fi
  case $output in
  *'No such file or directory'*) install 'was not there' ;;
  *) return 1 ;;
  esac
}

# rest: sleep so that SIGTERM ends it at once; as process 1 nothing else would.
rest() {
  sleep "$pause" &
  nap=$!
  [ -n "$stopping" ] || wait "$nap"
  nap=''
}

trap 'stopping=yes; [ -z "$nap" ] || kill "$nap" 2>/dev/null' TERM INT
say "keeping table inet $table for the NIC with MAC $mac"
say "the node asks for its gateway's MAC from $sender; this pod cannot help where the gateway ignores that sender, the agent (agent.image) can"
while [ -z "$stopping" ]; do
  follow_nic
  if check; then
    [ -z "$trouble" ] || say 'working again'
    trouble='' pause=2
  else
    say_trouble "keeping table inet $table: ${output%%"$newline"*}"
    [ "$pause" -ge 30 ] || pause=$((pause * 2))
  fi
  [ -n "$stopping" ] || rest
done
say "stopping; table inet $table stays"
