#!/usr/bin/env bash
# akk as a tmux plugin: run once by TPM, or by `run-shell ~/akk/akk.tmux`.
# Rules: it may run again on every config reload; it ends in well under 100 ms;
# it never prints (run-shell would show that in the user's pane) and never fails
# (a failing plugin blocks the ones after it). It binds one prefix key and
# changes nothing else. `akk.tmux uninstall` takes everything back.
#
#   set -g @akk_key    'A'            the prefix key that opens the sidebar; 'off' binds none
#   set -g @akk_binary '/path/akk'    default: akk in PATH, then this folder's akk or bin/akk

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1 && pwd)"
default_key='A' # free in tmux's own prefix table

main() {
	# One question to tmux for all that is asked.
	local answer key named binary bound
	answer="$(tmux display-message -p '#{@akk_key}|#{@akk_bound_key}|#{@akk_binary}')"
	key="${answer%%|*}"; answer="${answer#*|}"
	bound="${answer%%|*}"; binary="${answer#*|}"
	named="$key"
	[ -n "$key" ] || key="$default_key"

	if [ "${1:-}" = uninstall ]; then
		uninstall "$bound"
		return
	fi

	binary="$(find_binary "$binary")"
	if [ -z "$binary" ]; then
		tmux display-message "akk: no akk binary found; run 'make build' in $here or set @akk_binary"
		return
	fi
	if [ -n "$bound" ] && [ "$bound" != "$key" ]; then
		tmux unbind-key -T prefix "$bound"
	fi
	if [ "$key" = off ]; then
		tmux set-option -gu @akk_bound_key
		return
	fi
	# A key of the human's own is only taken when @akk_key names it.
	if [ -z "$named" ] && [ "$bound" != "$key" ] && tmux list-keys -T prefix "$key" 2>/dev/null | grep -q .; then
		tmux display-message "akk: prefix $key is bound already; name another key with: set -g @akk_key X"
		return
	fi
	# `akk` finds the server, the session and the pane in the environment that
	# run-shell gives it; TMUX_PANE must be told.
	tmux bind-key -T prefix -N 'akk: open or go to the sidebar' "$key" \
		run-shell -b "TMUX_PANE=#{pane_id} '${binary//\'/\'\\\'\'}' sidebar --open >/dev/null 2>&1 || tmux display-message 'akk: the sidebar could not be opened, try: akk doctor'" \; \
		set-option -g @akk_bound_key "$key" >/dev/null
}

find_binary() {
	local b
	for b in "$1" "$(command -v akk)" "$here/akk" "$here/bin/akk"; do
		if [ -n "$b" ] && [ -f "$b" ] && [ -x "$b" ]; then
			printf '%s' "$b"
			return
		fi
	done
}

# uninstall unbinds the key, closes sidebars, unsets the options and asks a
# running daemon to end; it leaves recordings, store and config alone.
uninstall() {
	[ -z "$1" ] || tmux unbind-key -T prefix "$1"
	tmux set-option -gu @akk_bound_key
	local id mark b
	while IFS=' ' read -r id mark; do
		[ "$mark" = 1 ] && tmux kill-pane -t "$id"
	done < <(tmux list-panes -a -F '#{pane_id} #{@akk_sidebar}')
	b="$(find_binary '')"
	[ -z "$b" ] || "$b" serve --stop
}

main "$@" >/dev/null 2>&1
exit 0
