#!/usr/bin/perl
# Listens and runs a script for each connection, as inetd would: Debian has Perl, but no inetd.
#   serve.pl ./greetings.sh
use strict;
use warnings;
use IO::Select;
use IO::Socket::IP;
use POSIX ':sys_wait_h';

my $script = $ARGV[0] // die "Give the script of the function.\n";
for (qw(DROVER_WEBHOOK_AUDIENCE DROVER_WEBHOOK_SECRETS DROVER_STATE)) {
    die "Set $_: docs/webhook-functions.md has its meaning.\n" if ($ENV{$_} // '') eq '';
}
-r "$ENV{DROVER_WEBHOOK_SECRETS}/current"
  or die "There is no file current in $ENV{DROVER_WEBHOOK_SECRETS}. Mount the Secret <name>-webhook there "
  . "(DROVER_WEBHOOK_SECRETS).\n";
my ($grace) = ($ENV{DROVER_STOP_GRACE} // '20000ms') =~ /^(\d+)ms$/ or die "Set DROVER_STOP_GRACE in ms.\n";

my ($host, $port) = ($ENV{DROVER_HTTP_HOST} // '127.0.0.1', $ENV{DROVER_HTTP_PORT} // 8080);
my $server = IO::Socket::IP->new(LocalHost => $host, LocalPort => $port, Listen => 64, ReuseAddr => 1)
  or die "Cannot listen on port $port: $@\n";
my ($most, %children, $stopping) = (32);
$SIG{TERM} = $SIG{INT} = sub { $stopping = 1 };
$| = 1;
print "Answering calls at $host:", $server->sockport, "\n";

sub reap { while ((my $pid = waitpid -1, WNOHANG) > 0) { delete $children{$pid} } }

my $incoming = IO::Select->new($server);
until ($stopping) {
    reap;
    if (keys %children >= $most) { select undef, undef, undef, 0.05; next }
    my $client = $incoming->can_read(0.2) && $server->accept or next;
    my $child = fork;
    if (defined $child && $child == 0) {
        $SIG{TERM} = $SIG{INT} = 'DEFAULT';
        open STDIN,  '<&', $client or die;
        open STDOUT, '>&', $client or die;
        exec $script or die "Cannot run $script: $!\n";
    }
    $children{$child} = 1 if defined $child;
    close $client;
}
close $server;
my $end = time + $grace / 1000;
while (%children && time < $end) { reap; select undef, undef, undef, 0.05 }
