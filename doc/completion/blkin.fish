# SPDX-License-Identifier: BSD-2-Clause
# fish completion for blkin(1). Commands and options come from the program's own --help.

# The outputs that are configured, by the words that have been typed.
function __blkin_outputs
    set -l typed (commandline -opc)
    set -l words
    contains -- --user $typed
    and set -a words --user
    for i in (seq 2 (count $typed))
        test $typed[(math $i - 1)] = --config
        and set -a words $typed[$i]
    end
    echo default
    blkin validate --print $words 2>/dev/null | string replace -rf '^\[output (.*)\]$' '$1'
end

# The services that have a rate of their own.
function __blkin_services
    blkin sampling 2>/dev/null | string match -v 'every service: *' | string replace -rf '^(.*): .*' '$1'
end

complete -c blkin -f
complete -c blkin -n __fish_use_subcommand -l help -d 'show help'
complete -c blkin -n __fish_use_subcommand -l version -d 'show the version'

for line in (blkin --help 2>/dev/null)
    set -l found (string match -r '^  ([a-z]+) +(.*)' -- $line)
    or continue
    set -l command $found[2]
    complete -c blkin -n __fish_use_subcommand -a $command -d $found[3]
    set -l seen "__fish_seen_subcommand_from $command"
    complete -c blkin -n $seen -l help -d 'show help'
    for option in (blkin $command --help 2>/dev/null)
        set -l part (string match -r '^  --([a-z-]+)(?:\[=[A-Z]+\])?(?: ([A-Z:]+))?  +(.*)' -- $option)
        or continue
        switch $part[3]
            case FILE PATH
                complete -c blkin -n $seen -l $part[2] -d $part[4] -rF
            case DIR
                complete -c blkin -n $seen -l $part[2] -d $part[4] -xa '(__fish_complete_directories)'
            case ''
                test $part[2] = help
                or complete -c blkin -n $seen -l $part[2] -d $part[4]
            case '*'
                set -l names
                test "$command $part[2]" = 'spool output'
                and set names -a '(__blkin_outputs)'
                test "$command $part[2]" = 'sampling service'
                and set names -a '(__blkin_services)'
                complete -c blkin -n $seen -l $part[2] -d $part[4] -x $names
        end
    end
end

complete -c blkin -n '__fish_seen_subcommand_from import validate' -F
complete -c blkin -n '__fish_seen_subcommand_from why' -a '(__fish_complete_directories)'
complete -c blkin -n '__fish_seen_subcommand_from sampling' -a '1/10 1/100 1/1000 default off'
complete -c blkin -n '__fish_seen_subcommand_from spool; and not __fish_seen_subcommand_from check discard list' -a 'check discard list'
