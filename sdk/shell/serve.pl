#!/usr/bin/perl
# Listens and runs greetings.sh for each connection, as inetd would: Debian has Perl, but no inetd.
use strict;
use warnings;
use File::Basename qw(dirname);
use IO::Socket::INET;

my $host = $ENV{DROVER_HTTP_HOST} // '127.0.0.1';
my $port = $ENV{DROVER_HTTP_PORT} // 8080;
my $server = IO::Socket::INET->new(LocalAddr => $host, LocalPort => $port, Listen => 64, ReuseAddr => 1)
  or die "Cannot listen on port $port: $!\n";
$SIG{CHLD} = 'IGNORE';
$| = 1;
print "Answering calls at $host:", $server->sockport, "\n";
while (1) {
    my $client = $server->accept or next;
    my $child = fork;
    if (defined $child && $child == 0) {
        $SIG{CHLD} = 'DEFAULT';
        open STDIN,  '<&', $client or die;
        open STDOUT, '>&', $client or die;
        exec dirname(__FILE__) . '/greetings.sh';
    }
    close $client;
}
