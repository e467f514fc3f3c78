// Command pki writes the keys and certificates of one throw-away cluster into a folder:
//
//	ca.crt, ca.key                the authority that signed all others
//	apiserver.crt, apiserver.key  what the API server shows on loopback, to pods, and on the node's address
//	admin.crt, admin.key          a client in system:masters, which may do everything
//	controller-manager, scheduler, proxy, node (.crt, .key)
//	                              clients with the names that Kubernetes' own roles are bound to; the node is called
//	                              "node"
//	sa.key, sa.pub                signs and checks ServiceAccount tokens
//
// and later, with more arguments, one more client that the same authority signs, as NAME.crt and NAME.key:
//
//	pki FOLDER NAME USER [GROUP ...]
//
// Here rather than in Node, which can check X.509 certificates but not sign them.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const validity = 10 * 365 * 24 * time.Hour

type identity struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 || len(os.Args) == 3 {
		log.Fatal("usage: pki FOLDER [NAME USER [GROUP ...]]")
	}
	folder := os.Args[1]
	if len(os.Args) > 3 {
		write(folder, os.Args[2], client(read(folder, "ca"), os.Args[3], os.Args[4:]...))
		return
	}
	must(os.MkdirAll(folder, 0o700))

	authority := authority()
	write(folder, "ca", authority)
	write(folder, "apiserver", sign(authority, x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
			"kubernetes.default.svc.cluster.local",
		},
		// 10.0.0.1 is the first address of the service range, which the API server takes for itself; 10.99.0.1 is the
		// node's.
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1), net.IPv4(10, 99, 0, 1)},
	}))
	write(folder, "admin", client(authority, "admin", "system:masters"))
	write(folder, "controller-manager", client(authority, "system:kube-controller-manager"))
	write(folder, "scheduler", client(authority, "system:kube-scheduler"))
	write(folder, "proxy", client(authority, "system:kube-proxy"))
	write(folder, "node", client(authority, "system:node:node", "system:nodes"))
	writeServiceAccountKeys(folder)
}

func client(authority identity, user string, groups ...string) identity {
	return sign(authority, x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func authority() identity {
	key := newKey()
	template := x509.Certificate{
		Subject:               pkix.Name{CommonName: "drover real cluster"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	return identity{key, certificate(template, nil, key, key)}
}

func sign(authority identity, template x509.Certificate) identity {
	key := newKey()
	template.KeyUsage = x509.KeyUsageDigitalSignature
	return identity{key, certificate(template, authority.certificate, key, authority.key)}
}

// certificate signs template for key; without a parent it signs itself.
func certificate(template x509.Certificate, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	must(err)
	now := time.Now()
	template.SerialNumber = serial
	// A little in the past, for clients whose clock is behind.
	template.NotBefore = now.Add(-time.Hour)
	template.NotAfter = now.Add(validity)
	if parent == nil {
		parent = &template
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, &key.PublicKey, signer)
	must(err)
	signed, err := x509.ParseCertificate(der)
	must(err)
	return signed
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	return key
}

func write(folder, name string, who identity) {
	writePEM(filepath.Join(folder, name+".crt"), "CERTIFICATE", who.certificate.Raw)
	writeKey(filepath.Join(folder, name+".key"), who.key)
}

func read(folder, name string) identity {
	certificate, err := x509.ParseCertificate(readPEM(filepath.Join(folder, name+".crt")))
	must(err)
	key, err := x509.ParseECPrivateKey(readPEM(filepath.Join(folder, name+".key")))
	must(err)
	return identity{key, certificate}
}

func readPEM(path string) []byte {
	text, err := os.ReadFile(path)
	must(err)
	block, _ := pem.Decode(text)
	if block == nil {
		log.Fatal("pki: no PEM in ", path)
	}
	return block.Bytes
}

func writeKey(path string, key *ecdsa.PrivateKey) {
	der, err := x509.MarshalECPrivateKey(key)
	must(err)
	writePEM(path, "EC PRIVATE KEY", der)
}

func writeServiceAccountKeys(folder string) {
	key := newKey()
	writeKey(filepath.Join(folder, "sa.key"), key)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(err)
	writePEM(filepath.Join(folder, "sa.pub"), "PUBLIC KEY", public)
}

func writePEM(path, kind string, der []byte) {
	must(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func must(err error) {
	if err != nil {
		log.Fatal("pki: ", err)
	}
}
