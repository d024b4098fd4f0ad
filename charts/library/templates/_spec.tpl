{{- /* The spec that values come to. */ -}}

{{- /* The spec as JSON, with what the chart's values add: where the image is, the Secret of the keyring. */ -}}
{{- define "viewmesh.givenSpec" -}}
{{- $spec := deepCopy .Values.spec -}}
{{- $image := $spec.image | default dict -}}
{{- if and .Values.global.imageRegistry (not $image.repository) -}}
{{- $image = set $image "repository" (printf "%s/viewmesh-%s" .Values.global.imageRegistry .Chart.Name) -}}
{{- if not (or $image.tag $image.digest) -}}
{{- $image = set $image "tag" .Chart.AppVersion -}}
{{- end -}}
{{- $_ := set $spec "image" $image -}}
{{- end -}}
{{- if .Values.existingSecret -}}
{{- $_ := set $spec "identity" (mergeOverwrite (dict) ($spec.identity | default dict) (dict "secretRef" (dict "name" .Values.existingSecret))) -}}
{{- if and (eq .Values.mode "standalone") (eq .Chart.Name "generator") -}}
{{- $keys := dict "keysSecretRef" (dict "name" .Values.existingSecret "key" "schema-keys") -}}
{{- $_ := set $spec "schemaAuth" (mergeOverwrite $keys ($spec.schemaAuth | default dict)) -}}
{{- end -}}
{{- end -}}
{{- with .Values.announce -}}
{{- $services := $spec.services | default dict -}}
{{- $_ := set $services "p2p" (mergeOverwrite (dict) ($services.p2p | default dict) (dict "announce" .)) -}}
{{- $_ := set $spec "services" $services -}}
{{- end -}}
{{- if and (eq .Values.mode "operator") .Values.global.imagePullSecrets -}}
{{- $template := $spec.podTemplate | default dict -}}
{{- $pod := $template.spec | default dict -}}
{{- $pod = set $pod "imagePullSecrets" (concat .Values.global.imagePullSecrets ($pod.imagePullSecrets | default list) | uniq) -}}
{{- $_ := set $spec "podTemplate" (set $template "spec" $pod) -}}
{{- end -}}
{{- toJson $spec -}}
{{- end -}}

{{- /* The spec as JSON with the defaults that the API server would fill in. */ -}}
{{- define "viewmesh.spec" -}}
{{- $spec := mergeOverwrite (.Files.Get "files/defaults.yaml" | fromYaml) (include "viewmesh.givenSpec" . | fromJson) -}}
{{- with $spec.upstream -}}
{{- range $way := list .service .podSelector -}}
{{- with $way -}}
{{- $_ := set . "httpPort" (.httpPort | default 8545) -}}
{{- $_ := set . "colocate" (.colocate | default "Preferred") -}}
{{- end -}}
{{- end -}}
{{- with .auth -}}
{{- $_ := set . "header" (.header | default "Authorization") -}}
{{- end -}}
{{- end -}}
{{- toJson $spec -}}
{{- end -}}

{{- /* The image: that of the spec, with the version of this chart where it names no tag or digest. */ -}}
{{- define "viewmesh.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- if not $image.repository -}}
{{- fail "\n\nSay where the images are: --set global.imageRegistry=registry.example.org/viewmesh, or spec.image.repository.\n" -}}
{{- end -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default $root.Chart.AppVersion }}
{{- end -}}
{{- end -}}
