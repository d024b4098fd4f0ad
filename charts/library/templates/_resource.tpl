{{- /* The resource for the operator, or the objects without it. */ -}}

{{- define "viewmesh.resource" -}}
{{- include "viewmesh.check" . }}
{{- if eq .Values.mode "operator" }}
apiVersion: viewmesh.io/v1alpha1
kind: {{ title .Chart.Name }}
metadata:
  name: {{ include "viewmesh.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" . | nindent 4 }}
  {{- with .Values.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- include "viewmesh.givenSpec" . | fromJson | toYaml | nindent 2 }}
{{- else if eq .Values.mode "standalone" }}
{{ include "viewmesh.standalone" . }}
{{- end }}
{{- end -}}
