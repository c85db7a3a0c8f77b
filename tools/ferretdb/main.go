// Runs FerretDB on SQLite, for the tests of the store: `ferretdb ADDRESS FOLDER`, and with TLS on a
// second address `ferretdb ADDRESS FOLDER TLS-ADDRESS CERTIFICATE KEY`.
package main

import (
	"context"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	if len(os.Args) != 3 && len(os.Args) != 6 {
		log.Fatal("expected: ferretdb ADDRESS FOLDER [TLS-ADDRESS CERTIFICATE KEY]")
	}
	listener, folder := ferretdb.ListenerConfig{TCP: os.Args[1]}, os.Args[2]
	if len(os.Args) == 6 {
		listener.TLS, listener.TLSCertFile, listener.TLSKeyFile = os.Args[3], os.Args[4], os.Args[5]
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		log.Fatal(err)
	}
	warnings := &slog.HandlerOptions{Level: slog.LevelWarn}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  listener,
		Handler:   "sqlite",
		SQLiteURL: "file:" + folder + "/",
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, warnings)),
	})
	if err != nil {
		log.Fatal(err)
	}
	stopped, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := server.Run(stopped); err != nil {
		log.Fatal(err)
	}
}
