// Command eks-token makes EKS tokens with the signer of the AWS SDK for Go. It reads one case per line of its standard
// input, as JSON, and answers each with one line: the token.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// emptyPayload is the SHA-256 of nothing: a GET has no body.
const emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

type testCase struct {
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
	SessionToken    string `json:"sessionToken"`
	Host            string `json:"host"`
	Region          string `json:"region"`
	ClusterName     string `json:"clusterName"`
	// Seconds since 1970.
	Now int64 `json:"now"`
}

func (c testCase) token() (string, error) {
	query := url.Values{
		"Action":        {"GetCallerIdentity"},
		"Version":       {"2011-06-15"},
		"X-Amz-Expires": {"60"},
	}
	request, err := http.NewRequest(http.MethodGet, "https://"+c.Host+"/?"+query.Encode(), nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("x-k8s-aws-id", c.ClusterName)
	credentials := aws.Credentials{
		AccessKeyID:     c.AccessKeyID,
		SecretAccessKey: c.SecretAccessKey,
		SessionToken:    c.SessionToken,
	}
	signed, _, err := v4.NewSigner().PresignHTTP(
		context.Background(), credentials, request, emptyPayload, "sts", c.Region, time.Unix(c.Now, 0).UTC())
	if err != nil {
		return "", err
	}
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(signed)), nil
}

func run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		token, err := c.token()
		if err != nil {
			return err
		}
		fmt.Println(token)
	}
	return lines.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
