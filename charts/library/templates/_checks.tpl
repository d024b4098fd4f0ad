{{- /* Refuses values that cannot become anything, with what to do. */ -}}
{{- define "viewmesh.check" -}}
{{- if not (has .Values.mode (list "operator" "standalone")) -}}
{{- fail (printf "\n\nSay who runs the %s: --set mode=operator makes a resource for the operator, which has to be installed; --set mode=standalone makes the StatefulSet itself.\nIt is never guessed, since a guess that changes would replace one by the other.\n" .Chart.Name) -}}
{{- end -}}
{{- if and (eq .Values.mode "standalone") (not .Values.existingSecret) -}}
{{- fail (printf "\n\nThe %s needs a Secret with its keyring key, which decides its peer ID and must never change. Make it once, keep a copy, and set existingSecret to its name:\n\n  %s\n" .Chart.Name (include "viewmesh.secretCommand" .)) -}}
{{- end -}}
{{- if and (eq .Chart.Name "generator") (ne (len (keys (pick (.Values.spec.upstream | default dict) "url" "service" "podSelector"))) 1) -}}
{{- fail "\n\nSay where the execution node is, by exactly one of spec.upstream.service, spec.upstream.url and spec.upstream.podSelector: --set spec.upstream.service.name=geth\n" -}}
{{- end -}}
{{- if and (eq .Values.mode "standalone") .Values.spec.generators -}}
{{- fail "\n\nspec.generators needs the operator, which learns peer IDs. With mode=standalone list the Generators in spec.bootstrapPeers, as /dns4/<name>-generator-nodes.<namespace>.svc.cluster.local/tcp/9171/p2p/<peer id>.\n" -}}
{{- end -}}
{{- if and .Values.announce ((($.Values.spec.services | default dict).p2p | default dict).announce) -}}
{{- fail "\n\nannounce and spec.services.p2p.announce both say what is told to peers: leave one of them out.\n" -}}
{{- end -}}
{{- if eq .Values.mode "standalone" -}}
{{- include "viewmesh.checkStandalone" . -}}
{{- else -}}
{{- include "viewmesh.checkOperator" . -}}
{{- end -}}
{{- end -}}

{{- /* Refuses what the operator knows or is told elsewhere. */ -}}
{{- define "viewmesh.checkOperator" -}}
{{- $refusals := list -}}
{{- if .Values.executionNode -}}
{{- $refusals = append $refusals "executionNode has no effect with the operator, which finds the execution node's pods behind spec.upstream.service or by spec.upstream.podSelector: leave it out, or use mode=standalone." -}}
{{- end -}}
{{- if ne .Values.clusterDomain "cluster.local" -}}
{{- $refusals = append $refusals "clusterDomain has no effect with the operator, to whose own release it belongs: set clusterDomain there, or use mode=standalone." -}}
{{- end -}}
{{- if and .Values.existingSecret (.Values.spec.identity | default dict).secretRef -}}
{{- $refusals = append $refusals "existingSecret and spec.identity.secretRef both name the Secret with the keyring keys: leave one of them out." -}}
{{- end -}}
{{- if $refusals -}}
{{- fail (printf "\n\n%s\n" (join "\n" $refusals)) -}}
{{- end -}}
{{- end -}}

{{- /* Refuses what only the operator heeds, rather than ignore it, and what only the API server would check. */ -}}
{{- define "viewmesh.checkStandalone" -}}
{{- $spec := .Values.spec -}}
{{- $identity := $spec.identity | default dict -}}
{{- $storage := $spec.storage | default dict -}}
{{- $ignored := dict -}}
{{- if $spec.paused -}}
{{- $_ := set $ignored "paused" "leave it out; helm changes nothing by itself" -}}
{{- end -}}
{{- if ne ($spec.rollout | default "OnSpecChange") "OnSpecChange" -}}
{{- $_ := set $ignored "rollout" "leave it out; each upgrade of the release replaces the pods that it changes" -}}
{{- end -}}
{{- range $path, $holder := dict "identity" $identity "storage.data" ($storage.data | default dict) -}}
{{- if ne ($holder.deletionPolicy | default "Retain") "Retain" -}}
{{- $_ := set $ignored (printf "%s.deletionPolicy" $path) "leave it out, and delete the Secret or the claims after an uninstall" -}}
{{- end -}}
{{- end -}}
{{- if $storage.restartToResize -}}
{{- $_ := set $ignored "storage.restartToResize" "leave it out, and delete the pod of a volume that has grown" -}}
{{- end -}}
{{- if ($spec.schemaAuth | default dict).allowedNamespaces -}}
{{- $_ := set $ignored "schemaAuth.allowedNamespaces" "leave it out, and give a key of the Secret to the Hosts" -}}
{{- end -}}
{{- with $identity.secretRef -}}
{{- $_ := set $ignored "identity.secretRef" "leave it out, and set existingSecret" -}}
{{- end -}}
{{- $refusals := list -}}
{{- range $field, $remedy := $ignored -}}
{{- $refusals = append $refusals (printf "spec.%s has no effect without the operator: %s, or use mode=operator." $field $remedy) -}}
{{- end -}}
{{- if .Values.annotations -}}
{{- $refusals = append $refusals "annotations are those of the resource, which mode=standalone does not make: leave them out, or use mode=operator." -}}
{{- end -}}
{{- $refusals = concat $refusals (include "viewmesh.brokenRules" . | fromJsonArray) -}}
{{- if $refusals -}}
{{- fail (printf "\n\n%s\n" (join "\n" $refusals)) -}}
{{- end -}}
{{- end -}}

{{- define "viewmesh.secretCommand" -}}
kubectl create secret generic {{ include "viewmesh.name" . }}-{{ .Chart.Name }}-keyring --namespace {{ .Release.Namespace }}
{{- range $ordinal := until (int (.Values.spec.replicas | default 1)) }} --from-literal={{ $ordinal }}="$(openssl rand -base64 32)"{{ end }}
{{- if eq .Chart.Name "generator" }} --from-literal=schema-keys="$(openssl rand -hex 32)"{{ end }}
{{- end -}}
