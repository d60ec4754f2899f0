// An independent maker of EKS tokens, which `cargo xtask conformance` compares with ours. Not a part of `capt`.
module capt.local/parts/eks-token

go 1.24

require (
	github.com/aws/aws-sdk-go-v2 v1.47.5
	github.com/aws/smithy-go v1.28.7 // indirect
)
