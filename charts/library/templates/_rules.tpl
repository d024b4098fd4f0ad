{{- /*
The rules of the definitions, in their words, for mode=standalone, in which no API server applies them; copied into
the charts of Generator and Host by `npm run generate`. Helm cannot evaluate CEL:
test/e2e/cluster/charts/chart-refusals.test.ts shows that what breaks a rule there is refused here.
*/ -}}

{{- /* What the spec breaks, as a JSON list of lines. Rules are lists: whether it is broken, where, what to do. */ -}}
{{- define "viewmesh.brokenRules" -}}
{{- $spec := include "viewmesh.spec" . | fromJson -}}
{{- $program := .Chart.Name -}}
{{- $other := eq $program "host" | ternary "generator" "host" -}}
{{- $isHost := eq $program "host" -}}
{{- $p2p := ternary ($spec.services | default dict).p2p ($spec.p2p | default dict).service $isHost | default dict -}}
{{- $atP2p := ternary "spec.services.p2p" "spec.p2p.service" $isHost -}}
{{- $start := $spec.start | default dict -}}
{{- $size := (.Files.Get "files/defaults.yaml" | fromYaml).storage.data.size -}}
{{- $template := $spec.podTemplate | default dict -}}
{{- $metadata := $template.metadata | default dict -}}
{{- $pod := $template.spec | default dict -}}
{{- $at := "spec.podTemplate.spec" -}}
{{- $ours := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "apps.kubernetes.io/pod-index" -}}
{{- $chain := $spec.chain | default dict -}}
{{- $networks := dict "ethereum__mainnet" 1 "ethereum__sepolia" 11155111 "ethereum__holesky" 17000 "ethereum__hoodi" 560048 "arbitrum__mainnet" 42161 "arbitrum__sepolia" 421614 "base__mainnet" 8453 "base__sepolia" 84532 "gnosis__mainnet" 100 "gnosis__chiado" 10200 "optimism__mainnet" 10 "optimism__sepolia" 11155420 "polygon__mainnet" 137 "polygon__amoy" 80002 -}}
{{- $known := get $networks (lower (printf "%s__%s" $chain.name $chain.network)) -}}
{{- $rules := list
  (list (and $chain.id $known (ne (int64 $chain.id) (int64 $known))) "spec.chain.id" "id is not the chain ID of the network that name and network stand for: correct it, or give the chain names of its own, such as Local and Devnet")
  (list (and (hasKey $spec "start") (eq (hasKey $start "height") (hasKey $start "behindHead"))) "spec.start" "give exactly one of height and behindHead, or leave start out to begin at the newest block")
  (list (and (hasKey $p2p "nodePort") (ne $p2p.type "NodePort")) (print $atP2p ".nodePort") "nodePort needs type NodePort: set it, or leave nodePort out")
  (list (and (hasKey $p2p "loadBalancerClass") (ne $p2p.type "LoadBalancer")) (print $atP2p ".loadBalancerClass") "loadBalancerClass needs type LoadBalancer: set it, or leave loadBalancerClass out")
  (list (and (eq $p2p.type "NodePort") $p2p.publicHealth) (print $atP2p ".publicHealth") "a NodePort cannot be 8080, where registry dashboards expect /health: use LoadBalancer, or set publicHealth to false")
  (list (and $pod.hostNetwork (gt (int $spec.replicas) 1)) "spec.replicas" "podTemplate.spec.hostNetwork allows one replica only, because the ports 8080, 9171, 9181, 9182 and 9183 are then the machine's: set replicas to 1 and create another Host for another machine")
  (list (and (not $spec.pruning.enabled) (eq $spec.storage.data.size $size)) "spec.storage.data.size" (printf "without pruning a store never stops growing, so the default of %s is not taken: set storage.data.size to what the blocks need, roughly 150 MB for every 1,000 blocks of 200 transactions, or leave pruning enabled" $size))
  (list (include "viewmesh.anyIn" (list $pod.containers "name" (list $other))) (print $at ".containers") (printf "the container of a %s's program is named %s, and %s is that of a %s: give the container another name" (title $program) $program $other (title $other)))
  (list (and $spec.pruning.enabled (gt (int64 ($spec.readiness | default dict).minBlocks) (int64 $spec.pruning.maxBlocks))) "spec.readiness.minBlocks" "no replica ever has more blocks than pruning.maxBlocks keeps: lower readiness.minBlocks, or raise pruning.maxBlocks")
  (list (include "viewmesh.hasAny" (list $metadata.labels $ours)) "spec.podTemplate.metadata.labels" "labels app.kubernetes.io/name, app.kubernetes.io/instance and apps.kubernetes.io/pod-index belong to the operator, which finds the pods by them: use other labels")
  (list (include "viewmesh.hasAny" (list $metadata.annotations (list "viewmesh.io/roll-at"))) "spec.podTemplate.metadata.annotations" "viewmesh.io/roll-at belongs on the resource itself: kubectl annotate it there")
  (list (hasKey $pod "restartPolicy") (print $at ".restartPolicy") "restartPolicy is always Always in a StatefulSet: leave it out")
  (list (include "viewmesh.hasAny" (list $pod (list "hostname" "subdomain"))) $at "hostname and subdomain are the StatefulSet's, peers find pods by them: leave them out")
  (list (or $pod.hostPID $pod.hostIPC $pod.shareProcessNamespace) $at "hostPID, hostIPC and shareProcessNamespace would show the keyring to other processes: leave them out")
  (list (and (hasKey $pod "terminationGracePeriodSeconds") (lt (int $pod.terminationGracePeriodSeconds) 45)) (print $at ".terminationGracePeriodSeconds") "terminationGracePeriodSeconds must be 45 or more: stopping takes up to 30 seconds")
  (list (include "viewmesh.hasAny" (list $pod.securityContext (list "runAsUser" "runAsGroup" "fsGroup" "runAsNonRoot"))) (print $at ".securityContext") "securityContext.runAsUser, runAsGroup, fsGroup and runAsNonRoot are fixed to 1001, the owner of keys and data: leave them out")
  (list (include "viewmesh.anyIn" (list $pod.volumes "name" (list "keys" "data" "keyring" "config" "tmp" "secrets" "viewmesh-views"))) (print $at ".volumes") "volumes keys, data, keyring, config, tmp, secrets and viewmesh-views belong to the operator: choose other names")
-}}
{{- range $index, $container := $pod.containers -}}
{{- $rules = concat $rules (include "viewmesh.containerRules" (list (printf "%s.containers[%d]" $at $index) $container) | fromJsonArray) -}}
{{- end -}}
{{- range $index, $container := $pod.initContainers -}}
{{- $rules = concat $rules (include "viewmesh.besideRules" (list (printf "%s.initContainers[%d]" $at $index) $container) | fromJsonArray) -}}
{{- end -}}
{{- $broken := list -}}
{{- range $rules -}}
{{- if index . 0 -}}
{{- $broken = append $broken (printf "%s: %s." (index . 1) (index . 2)) -}}
{{- end -}}
{{- end -}}
{{- toJson $broken -}}
{{- end -}}

{{- /* Those of one container: the program's own, or one beside it. */ -}}
{{- define "viewmesh.containerRules" -}}
{{- $at := index . 0 -}}
{{- $container := index . 1 -}}
{{- if has $container.name (list "generator" "host") -}}
{{- $guarded := list "POD_INDEX" "CHAIN_NAME" "CHAIN_NETWORK" "CHAIN_ID" "DB_KEY_PATH" "DB_STORE_PATH" "DB_KEYRING_SECRET" "DB_KEYRING_SECRET_FILE" "DB_API_ADDR" "DB_P2P_LISTEN_ADDR" "HEALTH_ADDR" "HEALTH_PUBLIC_ADDR" "BOOTSTRAP_PEERS_FILE" "P2P_ANNOUNCE_FILE" "PRUNER_ENABLED" "PRUNER_MAX_BLOCKS" "NODE_RPC_URL" "NODE_WS_URL" "NODE_API_KEY" "NODE_API_KEY_FILE" "NODE_API_KEY_TYPE" "GENERATOR_START_HEIGHT" "SCHEMA_AUTH_MODE" "SCHEMA_API_KEYS" "SCHEMA_API_KEYS_FILE" "GENERATOR_SCHEMA_URL" "GENERATOR_SCHEMA_AUTH_TOKEN" "GENERATOR_SCHEMA_AUTH_TOKEN_FILE" "REGISTRY_RPC_URL" "REGISTRY_LCD_URL" "HOST_ADMIN_TOKEN" "HOST_ADMIN_TOKEN_FILE" "HOST_TRUSTED_SIGNERS" "HOST_TRUSTED_SIGNERS_FILE" "HOST_SIBLINGS_FILE" "HOST_READY_MIN_BLOCKS" "HOST_READY_MAX_LAG" "HOST_VIEWS_DIR" -}}
{{- $isMountedOver := false -}}
{{- range $container.volumeMounts -}}
{{- if regexMatch "^/(app|etc/viewmesh|run/viewmesh|tmp)(/|$)" .mountPath -}}
{{- $isMountedOver = true -}}
{{- end -}}
{{- end -}}
{{- toJson (list
  (list (hasKey $container "image") (print $at ".image") "the image of the program is spec.image: set it there")
  (list (include "viewmesh.hasAny" (list $container (list "command" "args"))) $at "command and args of the program belong to its image: leave them out, settings are environment variables")
  (list (hasKey $container "ports") (print $at ".ports") "the ports of the program are fixed (8080, 9171, 9181, 9182, 9183): leave ports out")
  (list (include "viewmesh.hasAny" (list $container (list "startupProbe" "livenessProbe" "readinessProbe"))) $at "the probes of the program are fixed, so that a program that catches up is not killed: leave them out")
  (list (hasKey $container "securityContext") (print $at ".securityContext") "the security context of the program is fixed to the restricted level: leave it out")
  (list (include "viewmesh.anyIn" (list $container.env "name" $guarded)) (print $at ".env") "the operator sets this variable itself: use the field of the spec that stands for it (kubectl explain generator.spec, kubectl explain host.spec)")
  (list (hasKey $container "envFrom") (print $at ".envFrom") "envFrom of the program could set variables that the operator decides: name each variable in env, with valueFrom")
  (list $isMountedOver (print $at ".volumeMounts") "/app, /etc/viewmesh, /run/viewmesh and /tmp of the program belong to the operator: mount elsewhere")
) -}}
{{- else -}}
{{- $named := list (list (not (hasKey $container "image")) $at "a container beside the program needs an image; the container of the program itself is named generator or host") -}}
{{- concat $named (include "viewmesh.besideRules" . | fromJsonArray) | toJson -}}
{{- end -}}
{{- end -}}

{{- /* Those of a container beside the program, init containers among them. */ -}}
{{- define "viewmesh.besideRules" -}}
{{- $at := index . 0 -}}
{{- $container := index . 1 -}}
{{- toJson (list
  (list (include "viewmesh.anyIn" (list $container.volumeMounts "name" (list "keyring" "secrets"))) (print $at ".volumeMounts") "no other container may mount the volumes keyring and secrets: leave them out")
  (list (include "viewmesh.anyIn" (list $container.ports "containerPort" (list "8080" "9171" "9181" "9182" "9183"))) (print $at ".ports") "the ports 8080, 9171, 9181, 9182 and 9183 of the pod belong to the program: let the other container listen elsewhere")
) -}}
{{- end -}}

{{- /* Not empty where an object has one of these fields. */ -}}
{{- define "viewmesh.hasAny" -}}
{{- $object := index . 0 | default dict -}}
{{- range index . 1 -}}
{{- if hasKey $object . -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Not empty where a field of an item has one of these values. */ -}}
{{- define "viewmesh.anyIn" -}}
{{- $field := index . 1 -}}
{{- $values := index . 2 -}}
{{- range index . 0 -}}
{{- if has (get . $field | toString) $values -}}true{{- end -}}
{{- end -}}
{{- end -}}
