package config

import "net/url"

// Client is how the commands that call a server reach it. The API key itself
// is no setting: it comes from the environment or a file, so that it stands
// neither in the list of processes nor in a shell's history.
type Client struct {
	Server  string `koanf:"server"`   // base address of the REST API, without /v1
	KeyFile string `koanf:"key_file"` // file that holds the API key

	// PEM files for an https server.
	CAFile     string `koanf:"ca_file"`     // authorities that its certificate must come from; "" for the system's
	ClientCert string `koanf:"client_cert"` // what it is shown
	ClientKey  string `koanf:"client_key"`
}

// EnvAPIKey is the environment variable with the API key of the commands that
// call a server.
const EnvAPIKey = EnvPrefix + "API_KEY"

func defaultClient() Client { return Client{Server: "http://127.0.0.1:8080"} }

func (c Client) settings() []Setting {
	return []Setting{
		{
			Key: "server", Commands: Review, Value: "URL", Default: c.Server,
			Usage: "The server to call, without the /v1.",
		}, {
			Key: "key_file", Commands: Review, Value: "FILE",
			Usage: "File that holds the API key, instead of " + EnvAPIKey + ".",
		}, {
			Key: "ca_file", Commands: Review, Value: "FILE",
			Usage: "Authorities (PEM) that the server's certificate must come from,\ninstead of the system's.",
		}, {
			Key: "client_cert", Commands: Review, Value: "FILE",
			Usage: "Certificate (PEM) for a server that wants one of its clients.",
		}, {
			Key: "client_key", Commands: Review, Value: "FILE",
			Usage: "Private key (PEM) of --client-cert.",
		},
	}
}

func (c Client) validate(ps *Problems) {
	u, err := url.Parse(c.Server)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil {
		ps.add("server", "%q is not the address of a server; write http://HOST:PORT or https://HOST", c.Server)
	}
	if (c.ClientCert == "") != (c.ClientKey == "") {
		ps.add("client_cert", "client_cert and client_key belong together; give both or neither")
	}
}
