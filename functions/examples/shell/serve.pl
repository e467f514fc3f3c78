#!/usr/bin/perl
# Listens on 127.0.0.1 and runs greetings.sh for each connection, as inetd would: Debian has Perl, but no inetd.
use strict;
use warnings;
use File::Basename qw(dirname);
use IO::Socket::INET;

my $port = $ENV{DROVER_HTTP_PORT} // 8080;
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 64, ReuseAddr => 1)
  or die "Cannot listen on port $port: $!\n";
$SIG{CHLD} = 'IGNORE';
$| = 1;
print "Answering calls at 127.0.0.1:", $server->sockport, "\n";
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
