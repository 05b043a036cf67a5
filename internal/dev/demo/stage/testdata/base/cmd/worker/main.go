package main

import "log"

func main() {
	log.Print("worker started")
}
