{{- /*
What the charts of Generator and Host share; `npm run generate` copies it into both as
templates/_shared.tpl. In standalone mode it makes of a spec what operator/resources makes of it, which
test/e2e/cluster/charts/chart-standalone.test.ts compares object by object.
*/ -}}

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

{{- /* Merges a user's pod template over ours as the operator does; see strategic-merge.ts there. */ -}}
{{- define "viewmesh.merge" -}}
{{- $keys := dict "containers" (list "name") "initContainers" (list "name") "volumes" (list "name") "env" (list "name") "imagePullSecrets" (list "name") "resourceClaims" (list "name") "volumeMounts" (list "mountPath") "volumeDevices" (list "devicePath") "ports" (list "containerPort" "protocol") "hostAliases" (list "ip") "topologySpreadConstraints" (list "topologyKey" "whenUnsatisfiable") -}}
{{- $result := deepCopy (index . 0) -}}
{{- range $name, $value := index . 1 -}}
{{- $before := get $result $name -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $result $name -}}
{{- else if and (kindIs "slice" $value) (hasKey $keys $name) -}}
{{- $items := ternary $before list (kindIs "slice" $before) -}}
{{- $_ := set $result $name (include "viewmesh.mergeItems" (list (get $keys $name) $items $value) | fromJsonArray) -}}
{{- else if kindIs "map" $value -}}
{{- $fields := ternary $before dict (kindIs "map" $before) -}}
{{- $_ := set $result $name (include "viewmesh.merge" (list $fields $value) | fromJson) -}}
{{- else -}}
{{- $_ := set $result $name $value -}}
{{- end -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{- /* Each item takes in one of the patch at most. */ -}}
{{- define "viewmesh.mergeItems" -}}
{{- $keys := index . 0 -}}
{{- $left := index . 2 -}}
{{- $merged := list -}}
{{- range $item := index . 1 -}}
{{- $others := list -}}
{{- $isTaken := false -}}
{{- range $entry := $left -}}
{{- if and (not $isTaken) (eq (include "viewmesh.itemKey" (list $keys $item)) (include "viewmesh.itemKey" (list $keys $entry))) -}}
{{- $isTaken = true -}}
{{- $item = include "viewmesh.merge" (list $item $entry) | fromJson -}}
{{- else -}}
{{- $others = append $others $entry -}}
{{- end -}}
{{- end -}}
{{- $left = $others -}}
{{- $merged = append $merged $item -}}
{{- end -}}
{{- range $entry := $left -}}
{{- $merged = append $merged (include "viewmesh.merge" (list dict $entry) | fromJson) -}}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{- /* What tells an item of a list from the others, with what Kubernetes takes for a field that is left out. */ -}}
{{- define "viewmesh.itemKey" -}}
{{- $item := index . 1 -}}
{{- range $key := index . 0 -}}
{{- $default := ternary "TCP" "" (eq $key "protocol") -}}
{{- get $item $key | default $default | toString -}}{{ "\n" }}
{{- end -}}
{{- end -}}

{{- /* Ports as the numbers of a network policy: each once, in order. */ -}}
{{- define "viewmesh.tcpPorts" -}}
{{- $padded := list -}}
{{- range . -}}
{{- $padded = append $padded (printf "%05d" (int .)) -}}
{{- end -}}
{{- range $padded | uniq | sortAlpha }}
- protocol: TCP
  port: {{ regexReplaceAll "^0+" . "" }}
{{- end -}}
{{- end -}}

{{- define "viewmesh.portOfUrl" -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $port | default (has $url.scheme (list "https" "wss") | ternary "443" "80") -}}
{{- end -}}

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

{{- define "viewmesh.podsIn" -}}
namespaceSelector:
  matchLabels:
    kubernetes.io/metadata.name: {{ index . 0 }}
podSelector:
  matchLabels:
    {{- toYaml (index . 1) | nindent 4 }}
{{- end -}}

{{- define "viewmesh.servicePorts" -}}
{{- range . }}
- name: {{ index . 0 }}
  port: {{ index . 1 }}
  targetPort: {{ index . 1 }}
  protocol: TCP
{{- end -}}
{{- end -}}
