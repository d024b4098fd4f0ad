{{- /* How the identity is backed up, and what is left of it after an uninstall. */ -}}
{{- define "viewmesh.identityNotes" -}}
{{- $base := include "viewmesh.base" . -}}
{{- $identity := .Values.spec.identity | default dict -}}
{{- $given := .Values.existingSecret | default ($identity.secretRef | default dict).name -}}
{{- $secret := $given | default (printf "%s-keyring" $base) -}}
{{- $data := ((.Values.spec.storage | default dict).data | default dict) -}}
{{- $goes := list -}}
{{- $stays := list -}}
{{- if and (eq ($identity.deletionPolicy | default "Retain") "Delete") (not $given) -}}
{{- $goes = append $goes (printf "Secret %s" $secret) -}}
{{- else -}}
{{- $stays = append $stays (printf "Secret %s" $secret) -}}
{{- end -}}
{{- if eq ($identity.deletionPolicy | default "Retain") "Delete" -}}
{{- $goes = append $goes "the keys volumes" -}}
{{- else -}}
{{- $stays = append $stays "the keys volumes" -}}
{{- end -}}
{{- if eq ($data.deletionPolicy | default "Retain") "Delete" -}}
{{- $goes = append $goes "the data volumes" -}}
{{- else -}}
{{- $stays = append $stays "the data volumes" -}}
{{- end -}}
BACK UP ITS IDENTITY NOW. It cannot be recreated:

  kubectl --namespace {{ .Release.Namespace }} get secret {{ $secret }} -o yaml | sed '/^  ownerReferences:/,/^  resourceVersion:/d; /^  resourceVersion:/d; /^  uid:/d' > {{ $secret }}.yaml
  kubectl apply --server-side --force-conflicts -f {{ $secret }}.yaml    # puts it back

and the volume keys-{{ $base }}-0{{ if eq .Chart.Name "host" }} of each replica{{ end }}, as a snapshot or with kubectl cp. Keep the two apart from each other.
{{- if $goes }}
UNINSTALLING DELETES {{ join ", " $goes }}, as deletionPolicy says.
{{- end }}
{{- if $stays }}
Uninstalling leaves {{ join ", " $stays }}, and a new release of this name finds them again.
{{- end }}
{{- end -}}
