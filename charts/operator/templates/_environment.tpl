{{- /* The settings of the operator. */ -}}
{{- define "operator.environment" -}}
{{- $pairs := list
  (list "WATCH_NAMESPACES" (include "operator.namespaces" . | fromJsonArray | join ","))
  (list "LEADER_ELECT" (toString .Values.leaderElection.enabled))
  (list "LEASE_NAME" (include "operator.name" .))
  (list "GENERATOR_IMAGE" (.Values.operands.generator | default (include "operator.image" (list . "generator" dict))))
  (list "HOST_IMAGE" (.Values.operands.host | default (include "operator.image" (list . "host" dict))))
  (list "GENERATOR_PRIORITY_CLASS" .Values.operands.generatorPriorityClass)
  (list "CLUSTER_DOMAIN" .Values.clusterDomain)
  (list "LOG_LEVEL" .Values.logLevel)
-}}
{{- range $pairs }}
{{- if index . 1 }}
- name: {{ index . 0 }}
  value: {{ index . 1 | quote }}
{{- end }}
{{- end }}
{{- end -}}
