# contender: JSON::PP
# library: JSON::PP
# format: json
# gives: data
# install: comes with Perl
# untrusted: safe
# One coder for all calls, as its manual advises.
use JSON::PP ();

my $coder = JSON::PP->new->utf8->allow_bignum->canonical;

{
    version => sub { JSON::PP->VERSION },
    decode => sub { $coder->decode($_[0]) },
    encode => sub { $coder->encode($_[0]) },
};
