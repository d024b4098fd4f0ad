{{- /*
The objects of mode=standalone, shared by the charts of Generator and Host; copied into both by
`npm run generate`, as are standalone-pod.tpl and standalone-network.tpl.
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
  {{- $given := $p2p.announce | default list }}
  {{- if gt (len $given) $ordinal }}
  {{- $own = index $given $ordinal }}
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
  {{- with $p2p.loadBalancerClass }}
  loadBalancerClass: {{ . }}
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
      targetPort: 9183
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
    rollingUpdate:
      partition: {{ int ($spec.updatePartition | default 0) }}
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
        annotations:
          viewmesh.io/network: {{ $spec.chain.name }}__{{ $spec.chain.network }}
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
