# runtime: perl
# name: Perl
# suffix: pm
# command: perl {runner} {adapter}
# environment: PERL_HASH_SEED=0
# have: perl -MJSON::PP -e 1
# debian: perl

# Runs one Perl contender for `regauge measure`. An adapter is a file that ends with a map of
# functions: { version => sub …, decode => sub …, encode => sub … }.
use strict;
use warnings;
use File::Spec ();
use JSON::PP ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);

# Answers go to a copy of standard output; whatever a library prints goes to standard error.
open(my $answers, '>&', \*STDOUT) or die $!;
open(STDOUT, '>&', \*STDERR) or die $!;
$answers->autoflush(1);
my $json = JSON::PP->new->utf8->canonical;
sub say_to_parent { print $answers $json->encode($_[0]), "\n" }
sub yes { (ok => JSON::PP::true, @_) }

sub now { int(clock_gettime($_[0] // CLOCK_MONOTONIC) * 1e9) }

sub slurp {
    open(my $file, '<:raw', $_[0]) or die "cannot read $_[0]: $!\n";
    local $/;
    return scalar <$file>;
}

# Bytes to a file, and the place of each piece beside it.
sub put {
    my ($path, $pieces, $line) = @_;
    open(my $file, '>:raw', $path) or die "cannot write $path: $!\n";
    my ($position, @spans) = (0);
    for my $piece (@$pieces) {
        print $file $piece, $line;
        push @spans, $position, $position + length $piece;
        $position += length($piece) + length $line;
    }
    close($file) or die $!;
    open($file, '>:raw', "$path.spans") or die $!;
    print $file $json->encode(\@spans);
    close($file) or die $!;
}

sub cut {
    my ($bytes, $ends) = @_;
    return map { substr($bytes, $ends->[2 * $_], $ends->[2 * $_ + 1] - $ends->[2 * $_]) }
        0 .. $#$ends / 2;
}

my $adapter = do(File::Spec->rel2abs($ARGV[0]));
if (!$adapter) {
    my $why = $@ || $!;
    say_to_parent({ ok => JSON::PP::false, ($why =~ /^Can't locate/ ? 'missing' : 'error'), "$why" });
    exit;
}
say_to_parent({ yes(runtime => sprintf('Perl %vd', $^V), version => $adapter->{version}->(), gc => 'counts references') });
my ($decode, $encode) = @$adapter{qw(decode encode)};
my (@documents, @objects);

my %commands = (
    load => sub {
        my $bytes = slurp($_[0]{path});
        @documents = defined $_[0]{spans} ? cut($bytes, $json->decode(slurp($_[0]{spans}))) : $bytes;
        return documents => scalar @documents;
    },
    check => sub {
        my $began = now();
        my @values = map { $decode->($_) } @documents;
        my $decoded = now();
        put($_[0]{out}, [map { $encode->($_) } @values], $_[0]{lines} ? "\n" : '');
        return decode_ns => $decoded - $began, encode_ns => now() - $decoded;
    },
    hold => sub {
        @objects = map { $decode->($_) } @documents;
        return documents => scalar @objects;
    },
    sift => sub {
        my @pieces = cut(slurp($_[0]{path}), $json->decode(slurp($_[0]{spans})));
        put($_[0]{out}, [map { my $one = $_; eval { $encode->($decode->($one)) } // '' } @pieces], '');
        return documents => scalar @pieces;
    },
    sample => sub {
        my ($op, $times) = @{ $_[0] }{qw(op iterations)};
        my ($work, $list) = $op eq 'decode' ? ($decode, \@documents) : ($encode, \@objects);
        my ($cpu, $began) = (now(CLOCK_PROCESS_CPUTIME_ID), now());
        for (1 .. $times) { $work->($_) for @$list }
        my $ns = now() - $began;
        return ns => $ns, cpu_ns => now(CLOCK_PROCESS_CPUTIME_ID) - $cpu;
    },
);

while (my $line = <STDIN>) {
    my $command = $json->decode($line);
    last if $command->{do} eq 'exit';
    my %answer = eval {
        my $work = $commands{ $command->{do} } or die "the runner knows no command $command->{do}\n";
        yes($work->($command));
    };
    %answer = (ok => JSON::PP::false, error => "$@") if $@;
    say_to_parent(\%answer);
}
