{{- /* Names and labels of what a release makes, as operator/resources/names has them. */ -}}

{{- /* The name of the resource, from which all other names are made. */ -}}
{{- define "viewmesh.name" -}}
{{- $name := .Values.nameOverride | default .Release.Name -}}
{{- if or (gt (len $name) 40) (not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name)) -}}
{{- fail (printf "\n\n%q cannot be the name: names of pods and Services are made from it, so it begins with a letter, has lower-case letters, digits and \"-\" only, and at most 40 of them.\nSet nameOverride.\n" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "viewmesh.base" -}}
{{ include "viewmesh.name" . }}-{{ .Chart.Name }}
{{- end -}}

{{- define "viewmesh.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ include "viewmesh.name" . }}
{{- end -}}

{{- define "viewmesh.labels" -}}
{{ include "viewmesh.selector" . }}
app.kubernetes.io/part-of: viewmesh
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.global.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}
