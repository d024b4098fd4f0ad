{{- /*
The pod template of mode=standalone, shared by the charts of Generator and Host; copied into both by
`npm run generate`.
*/ -}}

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
        - name: public-health
          containerPort: 9183
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
  (list "HEALTH_PUBLIC_ADDR" "0.0.0.0:9183")
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
