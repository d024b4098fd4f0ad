{{- /* The settings of the operator. */ -}}
{{- define "operator.environment" -}}
{{- $pairs := list
  (list "WATCH_NAMESPACES" (include "operator.namespaces" . | fromJsonArray | join ","))
  (list "LEADER_ELECT" (toString .Values.leaderElection.enabled))
  (list "LEASE_NAME" (include "operator.name" .))
  (list "LEASE_DURATION_MS" (include "operator.milliseconds" .Values.leaderElection.leaseDuration))
  (list "RENEW_DEADLINE_MS" (include "operator.milliseconds" .Values.leaderElection.renewDeadline))
  (list "RETRY_PERIOD_MS" (include "operator.milliseconds" .Values.leaderElection.retryPeriod))
  (list "GENERATOR_IMAGE" (include "operator.operandImage" (list . "generator")))
  (list "HOST_IMAGE" (include "operator.operandImage" (list . "host")))
  (list "TOOLKIT_IMAGE" (include "operator.toolkitImage" .))
  (list "GENERATOR_PRIORITY_CLASS" (.Values.operands.generatorPriorityClass | default (include "operator.ownPriorityClass" .)))
  (list "IMAGE_PULL_SECRETS" (include "operator.pullSecretNames" . | fromJsonArray | join ","))
  (list "GENERATE_NETWORK_POLICY" (toString .Values.operands.generateNetworkPolicy))
  (list "GENERATE_POD_DISRUPTION_BUDGET" (toString .Values.operands.generatePodDisruptionBudget))
  (list "CLUSTER_DOMAIN" .Values.clusterDomain)
  (list "WORKERS" (int .Values.controller.workers | toString))
  (list "RESYNC_INTERVAL_MS" (int64 .Values.controller.resyncIntervalMs | toString))
  (list "LOG_LEVEL" .Values.logLevel)
  (list "LOG_FORMAT" .Values.logFormat)
-}}
{{- range $pairs }}
{{- if index . 1 }}
- name: {{ index . 0 }}
  value: {{ index . 1 | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "operator.operandImage" -}}
{{- $root := index . 0 -}}
{{- $program := index . 1 -}}
{{- with get $root.Values.operands $program -}}
{{ . }}
{{- else -}}
{{ include "operator.image" (list $root $program dict) }}
{{- end -}}
{{- end -}}

{{- /* Empty where neither it nor a registry is named: only registration needs it. */ -}}
{{- define "operator.toolkitImage" -}}
{{- if or .Values.operands.toolkit .Values.global.imageRegistry -}}
{{ include "operator.operandImage" (list . "toolkit") }}
{{- end -}}
{{- end -}}

{{- /* 15s as a number of milliseconds. */ -}}
{{- define "operator.milliseconds" -}}
{{ trimSuffix "s" . }}000
{{- end -}}

{{- define "operator.pullSecretNames" -}}
{{- $names := list -}}
{{- range .Values.global.imagePullSecrets -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}
