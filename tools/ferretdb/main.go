// FerretDB over SQLite, for the tests of the store: `ferretdb ADDRESS FOLDER`.
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
	if len(os.Args) != 3 {
		log.Fatal("expected: ferretdb ADDRESS FOLDER")
	}
	address, folder := os.Args[1], os.Args[2]
	if err := os.MkdirAll(folder, 0o755); err != nil {
		log.Fatal(err)
	}
	warnings := &slog.HandlerOptions{Level: slog.LevelWarn}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: address},
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
