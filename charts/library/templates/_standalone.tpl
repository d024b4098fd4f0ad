{{- /*
The objects of mode=standalone: those of files/objects.yaml, which the operator's builders made, with what values change.
Templates called viewmesh.set... change the objects that they are given, and have no text.
*/ -}}

{{- define "viewmesh.standalone" -}}
{{- $spec := include "viewmesh.spec" . | fromJson -}}
{{- $isHost := eq .Chart.Name "host" -}}
{{- $replicas := $isHost | ternary (int $spec.replicas) 1 -}}
{{- $p2p := $isHost | ternary ($spec.services | default dict).p2p ($spec.p2p | default dict).service -}}
{{- $objects := include "viewmesh.objects" . | fromYaml -}}
{{- $r := dict "root" . "spec" $spec "isHost" $isHost "replicas" $replicas "p2p" $p2p "objects" $objects -}}
{{- $_ := set $r "node" (include "viewmesh.executionNode" $r | fromJson) -}}
{{- include "viewmesh.setConfig" $r -}}
{{- include "viewmesh.setApiService" $r -}}
{{- include "viewmesh.setNetworkPolicy" $r -}}
{{- include "viewmesh.setStatefulSet" $r -}}
{{- $made := list $objects.serviceAccount $objects.configMap $objects.nodesService $objects.apiService -}}
{{- if ne $p2p.type "None" -}}
{{- range $ordinal := until $replicas -}}
{{- $made = append $made (include "viewmesh.p2pService" (list $r $ordinal) | fromYaml) -}}
{{- end -}}
{{- end -}}
{{- if ($spec.upstream | default dict).podSelector -}}
{{- include "viewmesh.setUpstreamService" $r -}}
{{- $made = append $made $objects.upstreamService -}}
{{- end -}}
{{- if $spec.networkPolicy.enabled -}}
{{- $made = append $made $objects.networkPolicy -}}
{{- end -}}
{{- if gt $replicas 1 -}}
{{- $made = append $made $objects.podDisruptionBudget -}}
{{- end -}}
{{- range append $made $objects.statefulSet }}
---
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- /* The builders' objects, named and labelled as those of this release. */ -}}
{{- define "viewmesh.objects" -}}
{{- $text := .Files.Get "files/objects.yaml" | replace "<name>" (include "viewmesh.name" .) | replace "<namespace>" .Release.Namespace -}}
{{- $objects := fromYaml $text -}}
{{- $labels := include "viewmesh.labels" . | fromYaml -}}
{{- range $objects -}}
{{- $_ := set .metadata "labels" $labels -}}
{{- end -}}
{{- toYaml $objects -}}
{{- end -}}

{{- /* Namespace and labels of the execution node's pods as JSON; empty where they are not known. */ -}}
{{- define "viewmesh.executionNode" -}}
{{- $namespace := .root.Release.Namespace -}}
{{- $node := .root.Values.executionNode | default dict -}}
{{- with (.spec.upstream | default dict).podSelector -}}
{{- $node = dict "labels" .matchLabels -}}
{{- end -}}
{{- ternary dict (dict "labels" $node.labels "namespace" ($node.namespace | default $namespace)) (empty $node.labels) | toJson -}}
{{- end -}}

{{- define "viewmesh.setConfig" -}}
{{- $data := dict -}}
{{- if .isHost -}}
{{- $_ := set $data "bootstrap-peers" (include "viewmesh.lines" .spec.bootstrapPeers) -}}
{{- $_ := set $data "siblings" (include "viewmesh.lines" .root.Values.siblings) -}}
{{- end -}}
{{- range $ordinal := until .replicas -}}
{{- $own := ($.spec.p2p | default dict).announce -}}
{{- if $.isHost -}}
{{- $own = list -}}
{{- if gt (len ($.p2p.announce | default list)) $ordinal -}}
{{- $own = index $.p2p.announce $ordinal -}}
{{- end -}}
{{- end -}}
{{- $_ := set $data (printf "announce-%d" $ordinal) (include "viewmesh.lines" $own) -}}
{{- end -}}
{{- $_ := set .objects.configMap "data" $data -}}
{{- end -}}

{{- define "viewmesh.lines" -}}
{{- range . | default list | uniq }}{{ . }}{{ "\n" }}{{ end -}}
{{- end -}}

{{- define "viewmesh.setStatefulSet" -}}
{{- $set := .objects.statefulSet.spec -}}
{{- $_ := set $set "replicas" (ternary 0 .replicas .spec.suspend) -}}
{{- $_ := set $set.updateStrategy.rollingUpdate "partition" (int (.spec.updatePartition | default 0)) -}}
{{- include "viewmesh.setPod" . -}}
{{- $template := include "viewmesh.merge" (list $set.template (.spec.podTemplate | default dict)) | fromJson -}}
{{- if and $template.spec.hostNetwork (not $template.spec.dnsPolicy) -}}
{{- $_ := set $template.spec "dnsPolicy" "ClusterFirstWithHostNet" -}}
{{- end -}}
{{- $_ := set $set "template" $template -}}
{{- range $set.volumeClaimTemplates -}}
{{- $storage := get $.spec.storage .metadata.name -}}
{{- $_ := set .metadata.annotations "viewmesh.io/network" (printf "%s__%s" $.spec.chain.name $.spec.chain.network) -}}
{{- $_ := set .spec.resources.requests "storage" $storage.size -}}
{{- if hasKey $storage "storageClassName" -}}
{{- $_ := set .spec "storageClassName" $storage.storageClassName -}}
{{- end -}}
{{- end -}}
{{- end -}}
