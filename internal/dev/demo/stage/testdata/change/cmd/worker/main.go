package main

import (
	"crypto/tls"
	"fmt"
	"log"
	"net/http"
)

func main() {
	log.Print("worker started")
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := client.Get("https://payments.shop.internal/pending")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	fmt.Println("pending:", response.Status)
}
