{{- define "operator.name" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{- $name := .Values.nameOverride | default "viewmesh-operator" -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "operator.selector" -}}
app.kubernetes.io/name: operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
app.kubernetes.io/part-of: viewmesh
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.global.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "operator.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "operator.name" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{- /* The image of a program: list of the root, `operator`, `generator`, `host` or `toolkit`, and what values say. */ -}}
{{- define "operator.image" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- $image := index . 2 -}}
{{- $registry := $root.Values.global.imageRegistry -}}
{{- if not (or $image.repository $registry) -}}
{{- fail (printf "\n\nSay where the images are: --set global.imageRegistry=registry.example.org/viewmesh (missing: that of the %s)\n" $program) -}}
{{- end -}}
{{- $repository := $image.repository | default (printf "%s/viewmesh-%s" $registry $program) -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ $image.tag | default $root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* The namespaces that are watched, as JSON; empty for all. */ -}}
{{- define "operator.namespaces" -}}
{{- if .Values.scope.clusterWide -}}
[]
{{- else -}}
{{- .Values.scope.namespaces | default (list .Release.Namespace) | uniq | sortAlpha | toJson -}}
{{- end -}}
{{- end -}}

{{- /* Name of the priority class that the chart makes for Generators; empty where it makes none. */ -}}
{{- define "operator.ownPriorityClass" -}}
{{- $operands := .Values.operands -}}
{{- if and .Values.scope.clusterWide $operands.createPriorityClass (not $operands.generatorPriorityClass) -}}
{{ include "operator.name" . }}-{{ .Release.Namespace }}-generator
{{- end -}}
{{- end -}}

{{- /* Refuses values that contradict each other. */ -}}
{{- define "operator.check" -}}
{{- if and (gt (int .Values.replicaCount) 1) (not .Values.leaderElection.enabled) -}}
{{- fail "\n\nSeveral replicas without leader election would write against each other: set leaderElection.enabled=true, or replicaCount=1.\n" -}}
{{- end -}}
{{- $election := .Values.leaderElection -}}
{{- $lease := include "operator.milliseconds" $election.leaseDuration | int -}}
{{- $deadline := include "operator.milliseconds" $election.renewDeadline | int -}}
{{- $retry := include "operator.milliseconds" $election.retryPeriod | int -}}
{{- if or (ge $deadline $lease) (gt (mul 2 $retry) $deadline) -}}
{{- fail (printf "\n\nleaderElection.renewDeadline (%s) has to be shorter than leaseDuration (%s), and retryPeriod (%s) half of renewDeadline at most: else two operators could write at once, or one failed attempt would stop all writing.\n" $election.renewDeadline $election.leaseDuration $election.retryPeriod) -}}
{{- end -}}
{{- if and .Values.scope.clusterWide .Values.scope.namespaces -}}
{{- fail "\n\nscope.namespaces has no effect while scope.clusterWide is true: set scope.clusterWide=false to watch those namespaces alone.\n" -}}
{{- end -}}
{{- end -}}
