{{- /*
The objects of mode=standalone, shared by the charts of Generator and Host; copied into both as
templates/_standalone.tpl by `node test/charts/write-files.ts`.
*/ -}}

{{- define "viewmesh.standalone" -}}
{{- $spec := include "viewmesh.spec" . | fromJson -}}
{{- $r := dict "root" . "spec" $spec "base" (include "viewmesh.base" .) "replicas" 1 -}}
{{- $isHost := eq .Chart.Name "host" -}}
{{- if $isHost -}}
{{- $_ := set $r "replicas" (int $spec.replicas) -}}
{{- end -}}
{{- $p2p := $isHost | ternary ($spec.services | default dict).p2p ($spec.p2p | default dict).service -}}
{{- $_ := set $r "p2p" $p2p -}}
{{- $node := .Values.executionNode | default dict -}}
{{- with $spec.upstream -}}
{{- with .podSelector -}}
{{- $node = dict "namespace" $.Release.Namespace "labels" .matchLabels -}}
{{- end -}}
{{- end -}}
{{- $_ := set $r "node" (ternary $node dict (not (empty $node.labels))) -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $r.base }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" . | nindent 4 }}
automountServiceAccountToken: false
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $r.base }}-config
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" . | nindent 4 }}
data:
  {{- if $isHost }}
  bootstrap-peers: {{ include "viewmesh.lines" ($spec.bootstrapPeers | default list) | quote }}
  {{- end }}
  {{- range $ordinal := until $r.replicas }}
  {{- $own := list }}
  {{- if $isHost }}
  {{- if gt (len $.Values.announce) $ordinal }}
  {{- $own = index $.Values.announce $ordinal }}
  {{- end }}
  {{- else }}
  {{- $own = $spec.p2p.announce | default list }}
  {{- end }}
  announce-{{ $ordinal }}: {{ include "viewmesh.lines" $own | quote }}
  {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $r.base }}-nodes
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" . | nindent 4 }}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "viewmesh.selector" . | nindent 4 }}
  ports:
    {{- include "viewmesh.servicePorts" (list (list "p2p" 9171) (list "health" 8080)) | nindent 4 }}
---
{{- $api := dict "type" "ClusterIP" }}
{{- $shown := list (list "api" 9181) }}
{{- if $isHost }}
{{- $api = $spec.services.api }}
{{- $shown = append $shown (list "playground" 9182) }}
{{- end }}
{{- if eq $api.type "ClusterIP" }}
{{- $shown = append $shown (list "health" 8080) }}
{{- end }}
apiVersion: v1
kind: Service
metadata:
  name: {{ $r.base }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" . | nindent 4 }}
  {{- with $api.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $api.type }}
  selector:
    {{- include "viewmesh.selector" . | nindent 4 }}
  ports:
    {{- include "viewmesh.servicePorts" $shown | nindent 4 }}
{{- if ne $p2p.type "None" }}
{{- range $ordinal := until $r.replicas }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $r.base }}-p2p-{{ $ordinal }}
  namespace: {{ $.Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" $ | nindent 4 }}
  {{- with $p2p.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ $p2p.type }}
  {{- if eq $p2p.type "LoadBalancer" }}
  externalTrafficPolicy: Local
  {{- end }}
  publishNotReadyAddresses: true
  selector:
    {{- include "viewmesh.selector" $ | nindent 4 }}
    apps.kubernetes.io/pod-index: {{ $ordinal | quote }}
  ports:
    - name: p2p
      port: 9171
      targetPort: 9171
      protocol: TCP
      {{- with $p2p.nodePort }}
      nodePort: {{ int . }}
      {{- end }}
    {{- if and $isHost $p2p.publicHealth }}
    - name: health
      port: 8080
      targetPort: 8080
      protocol: TCP
    {{- end }}
{{- end }}
{{- end }}
{{- with $spec.upstream }}
{{- with .podSelector }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $r.base }}-upstream
  namespace: {{ $.Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" $ | nindent 4 }}
spec:
  type: ClusterIP
  selector:
    {{- toYaml .matchLabels | nindent 4 }}
  ports:
    {{- $ports := list (list "http" (int .httpPort)) }}
    {{- if and .wsPort (ne (int .wsPort) (int .httpPort)) }}
    {{- $ports = append $ports (list "ws" (int .wsPort)) }}
    {{- end }}
    {{- include "viewmesh.servicePorts" $ports | nindent 4 }}
{{- end }}
{{- end }}
{{- if $spec.networkPolicy.enabled }}
---
{{ include "viewmesh.networkPolicy" $r }}
{{- end }}
{{- if and $isHost (gt $r.replicas 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $r.base }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "viewmesh.selector" . | nindent 6 }}
{{- end }}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $r.base }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" . | nindent 4 }}
spec:
  serviceName: {{ $r.base }}-nodes
  replicas: {{ $r.replicas }}
  selector:
    matchLabels:
      {{- include "viewmesh.selector" . | nindent 6 }}
  podManagementPolicy: Parallel
  updateStrategy:
    type: RollingUpdate
  minReadySeconds: 10
  revisionHistoryLimit: 5
  persistentVolumeClaimRetentionPolicy:
    whenDeleted: Retain
    whenScaled: Retain
  template:
    {{- $template := include "viewmesh.podTemplate" $r | fromYaml }}
    {{- $template = include "viewmesh.merge" (list $template ($spec.podTemplate | default dict)) | fromJson }}
    {{- if and $template.spec.hostNetwork (not $template.spec.dnsPolicy) }}
    {{- $_ := set $template.spec "dnsPolicy" "ClusterFirstWithHostNet" }}
    {{- end }}
    {{- toYaml $template | nindent 4 }}
  volumeClaimTemplates:
    {{- range $volume := list "keys" "data" }}
    {{- $storage := get $spec.storage $volume }}
    - apiVersion: v1
      kind: PersistentVolumeClaim
      metadata:
        name: {{ $volume }}
        labels:
          {{- include "viewmesh.selector" $ | nindent 10 }}
          viewmesh.io/holds: {{ $volume }}
      spec:
        accessModes:
          - ReadWriteOnce
        volumeMode: Filesystem
        {{- if hasKey $storage "storageClassName" }}
        storageClassName: {{ $storage.storageClassName | quote }}
        {{- end }}
        resources:
          requests:
            storage: {{ $storage.size }}
    {{- end }}
{{- end -}}

{{- define "viewmesh.lines" -}}
{{- range . | uniq }}{{ . }}{{ "\n" }}{{ end -}}
{{- end -}}

{{- define "viewmesh.networkPolicy" -}}
{{- $spec := .spec -}}
{{- $isHost := eq .root.Chart.Name "host" -}}
{{- $isOutside := not (has .p2p.type (list "None" "ClusterIP")) -}}
{{- $isHealthPublic := and $isHost $isOutside .p2p.publicHealth -}}
{{- $isApiPublic := and $isHost (ne (($spec.services | default dict).api | default dict).type "ClusterIP") -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .base }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" .root | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "viewmesh.selector" .root | nindent 6 }}
  policyTypes:
    - Ingress
    - Egress
  ingress:
    - ports:
        {{- include "viewmesh.tcpPorts" (list 9171) | nindent 8 }}
    - ports:
        {{- include "viewmesh.tcpPorts" ($isHost | ternary (list 9181 9182) (list 9181)) | nindent 8 }}
      {{- if not $isApiPublic }}
      from:
        - namespaceSelector: {}
      {{- end }}
    - ports:
        {{- include "viewmesh.tcpPorts" (list 8080) | nindent 8 }}
      {{- if not $isHealthPublic }}
      from:
        - namespaceSelector: {}
      {{- end }}
  egress:
    - ports:
        - protocol: UDP
          port: 53
        - protocol: TCP
          port: 53
    {{- $peers := list 9171 }}
    {{- range $spec.bootstrapPeers }}
    {{- $peers = append $peers (regexFind "/tcp/[0-9]+" . | trimPrefix "/tcp/") }}
    {{- end }}
    - ports:
        {{- include "viewmesh.tcpPorts" $peers | nindent 8 }}
    {{- if $isHost }}
    {{- $registry := list }}
    {{- range $url := list $spec.registry.rpcUrl $spec.registry.lcdUrl }}
    {{- with $url }}
    {{- $registry = append $registry (include "viewmesh.portOfUrl" .) }}
    {{- end }}
    {{- end }}
    {{- with $registry }}
    - ports:
        {{- include "viewmesh.tcpPorts" . | nindent 8 }}
    {{- end }}
    {{- else }}
    - ports:
        - protocol: TCP
      {{- with .node.labels }}
      to:
        - {{- include "viewmesh.podsIn" (list ($.node.namespace | default $.root.Release.Namespace) .) | nindent 10 }}
      {{- end }}
    {{- end }}
{{- end -}}

{{- define "viewmesh.podTemplate" -}}
{{- $spec := .spec -}}
{{- $program := .root.Chart.Name -}}
{{- $secrets := include "viewmesh.secretFiles" . | fromYamlArray -}}
metadata:
  labels:
    {{- include "viewmesh.selector" .root | nindent 4 }}
  annotations:
    kubectl.kubernetes.io/default-container: {{ $program }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 60
  securityContext:
    runAsNonRoot: true
    runAsUser: 1001
    runAsGroup: 1001
    fsGroup: 1001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  serviceAccountName: {{ .base }}
  {{- with .root.Values.global.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- include "viewmesh.placement" . | nindent 2 }}
  containers:
    - name: {{ $program }}
      image: {{ include "viewmesh.image" (list .root $spec.image) }}
      imagePullPolicy: {{ $spec.image.pullPolicy }}
      ports:
        - name: api
          containerPort: 9181
        - name: p2p
          containerPort: 9171
        - name: health
          containerPort: 8080
        {{- if eq $program "host" }}
        - name: playground
          containerPort: 9182
        {{- end }}
      env:
        - name: POD_INDEX
          valueFrom:
            fieldRef:
              fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
        {{- include "viewmesh.environment" . | nindent 8 }}
      resources:
        {{- if eq $program "host" }}
        requests:
          cpu: 200m
          memory: 512Mi
        limits:
          memory: 4Gi
        {{- else }}
        requests:
          cpu: 100m
          memory: 384Mi
        limits:
          memory: 2Gi
        {{- end }}
      volumeMounts:
        - name: keys
          mountPath: /app/.viewmesh/keys
        - name: data
          mountPath: /app/.viewmesh/{{ $program }}
        - name: keyring
          mountPath: /run/viewmesh/keyring
          subPathExpr: $(POD_INDEX)
          readOnly: true
        - name: config
          mountPath: /etc/viewmesh
          readOnly: true
        {{- if $secrets }}
        - name: secrets
          mountPath: /run/viewmesh/secrets
          readOnly: true
        {{- end }}
        - name: tmp
          mountPath: /tmp
      startupProbe:
        tcpSocket:
          port: 8080
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 90
      livenessProbe:
        tcpSocket:
          port: 8080
        periodSeconds: 20
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet:
          path: /health
          port: 8080
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 3
      terminationMessagePolicy: FallbackToLogsOnError
      securityContext:
        allowPrivilegeEscalation: false
        capabilities:
          drop:
            - ALL
        readOnlyRootFilesystem: true
  volumes:
    - name: keyring
      secret:
        secretName: {{ $spec.identity.secretRef.name }}
        defaultMode: 288
    - name: config
      configMap:
        name: {{ .base }}-config
    {{- with $secrets }}
    - name: secrets
      projected:
        defaultMode: 288
        sources:
          {{- range . }}
          - secret:
              name: {{ .name }}
              items:
                - key: {{ .key | quote }}
                  path: {{ .file }}
          {{- end }}
    {{- end }}
    - name: tmp
      emptyDir:
        sizeLimit: 256Mi
{{- end -}}

{{- define "viewmesh.secretFiles" -}}
{{- $spec := .spec -}}
{{- if eq .root.Chart.Name "generator" }}
{{- with $spec.upstream.auth }}
- {name: {{ .secretRef.name | quote }}, key: {{ .secretRef.key | quote }}, file: node-api-key}
{{- end }}
- {name: {{ $spec.schemaAuth.keysSecretRef.name | quote }}, key: {{ $spec.schemaAuth.keysSecretRef.key | quote }}, file: schema-api-keys}
{{- else }}
{{- with $spec.registry.adminTokenSecretRef }}
- {name: {{ .name | quote }}, key: {{ .key | quote }}, file: admin-token}
{{- end }}
{{- end }}
{{- end -}}

{{- define "viewmesh.placement" -}}
{{- if eq .root.Chart.Name "host" -}}
topologySpreadConstraints:
  - topologyKey: kubernetes.io/hostname
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "viewmesh.selector" .root | nindent 8 }}
{{- else -}}
{{- $way := .spec.upstream.service | default .spec.upstream.podSelector | default dict -}}
{{- $colocate := $way.colocate | default "None" -}}
{{- if and .node.labels (ne $colocate "None") -}}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "namespaces" (list (.node.namespace | default .root.Release.Namespace)) "labelSelector" (dict "matchLabels" .node.labels) -}}
affinity:
  podAffinity:
    {{- if eq $colocate "Required" }}
    requiredDuringSchedulingIgnoredDuringExecution:
      {{- list $term | toYaml | nindent 6 }}
    {{- else }}
    preferredDuringSchedulingIgnoredDuringExecution:
      {{- list (dict "weight" 100 "podAffinityTerm" $term) | toYaml | nindent 6 }}
    {{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The settings of the program, in the order of environment.ts of the operator. */ -}}
{{- define "viewmesh.environment" -}}
{{- $spec := .spec -}}
{{- $program := .root.Chart.Name -}}
{{- $pairs := list
  (list "CHAIN_NAME" $spec.chain.name)
  (list "CHAIN_NETWORK" $spec.chain.network)
  (list "DB_KEY_PATH" "/app/.viewmesh/keys")
  (list "DB_STORE_PATH" (printf "/app/.viewmesh/%s" $program))
  (list "DB_KEYRING_SECRET_FILE" "/run/viewmesh/keyring")
  (list "P2P_ANNOUNCE_FILE" "/etc/viewmesh/announce-$(POD_INDEX)")
  (list "PRUNER_ENABLED" (toString $spec.pruning.enabled))
  (list "PRUNER_MAX_BLOCKS" (int64 $spec.pruning.maxBlocks | toString))
-}}
{{- if eq $program "generator" -}}
{{- $urls := include "viewmesh.upstreamUrls" . | fromJson -}}
{{- $auth := $spec.upstream.auth | default dict -}}
{{- $pairs = concat $pairs (list
  (list "NODE_RPC_URL" $urls.http)
  (list "NODE_WS_URL" $urls.ws)
  (list "NODE_API_KEY_FILE" (ternary "/run/viewmesh/secrets/node-api-key" "" (hasKey $spec.upstream "auth")))
  (list "NODE_API_KEY_TYPE" $auth.header)
  (list "GENERATOR_START_HEIGHT" (include "viewmesh.startHeight" ($spec.start | default dict)))
  (list "SCHEMA_API_KEYS_FILE" "/run/viewmesh/secrets/schema-api-keys")
) -}}
{{- else -}}
{{- $pairs = concat $pairs (list
  (list "BOOTSTRAP_PEERS_FILE" "/etc/viewmesh/bootstrap-peers")
  (list "REGISTRY_RPC_URL" $spec.registry.rpcUrl)
  (list "REGISTRY_LCD_URL" $spec.registry.lcdUrl)
  (list "HOST_ADMIN_TOKEN_FILE" (ternary "/run/viewmesh/secrets/admin-token" "" (hasKey $spec.registry "adminTokenSecretRef")))
  (list "HOST_TRUSTED_SIGNERS" ($spec.trustedSigners | default list | join ","))
) -}}
{{- end -}}
{{- range $pairs }}
{{- if index . 1 }}
- name: {{ index . 0 }}
  value: {{ index . 1 | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "viewmesh.startHeight" -}}
{{- if hasKey . "height" -}}
{{ int64 .height }}
{{- else if hasKey . "behindHead" -}}
{{ ternary "latest" (printf "-%d" (int64 .behindHead)) (eq (int64 .behindHead) 0) }}
{{- end -}}
{{- end -}}

{{- define "viewmesh.upstreamUrls" -}}
{{- $upstream := .spec.upstream -}}
{{- if $upstream.url -}}
{{- toJson (dict "http" (join "," $upstream.url.http) "ws" $upstream.url.ws) -}}
{{- else -}}
{{- $way := $upstream.service | default $upstream.podSelector -}}
{{- $name := ($upstream.service | default dict).name | default (printf "%s-upstream" .base) -}}
{{- $namespace := ($upstream.service | default dict).namespace | default .root.Release.Namespace -}}
{{- $host := printf "%s.%s.svc.%s" $name $namespace .root.Values.clusterDomain -}}
{{- $ws := "" -}}
{{- with $way.wsPort -}}
{{- $ws = printf "ws://%s:%d" $host (int .) -}}
{{- end -}}
{{- toJson (dict "http" (printf "http://%s:%d" $host (int $way.httpPort)) "ws" $ws) -}}
{{- end -}}
{{- end -}}
