{{- /*
`helm test`: asks every replica for its health, with the Node of the program's own image. Where the
operator chooses the image, it is not known here, and there is no such test.
*/ -}}

{{- define "viewmesh.healthTest" -}}
{{- include "viewmesh.check" . }}
{{- $spec := include "viewmesh.spec" . | fromJson }}
{{- if and (not $spec.suspend) (or (eq .Values.mode "standalone") $spec.image.repository) }}
{{- $replicas := int ($spec.replicas | default 1) }}
apiVersion: v1
kind: Pod
metadata:
  name: {{ include "viewmesh.base" . }}-test
  namespace: {{ .Release.Namespace }}
  labels:
    app.kubernetes.io/part-of: viewmesh
    app.kubernetes.io/managed-by: {{ .Release.Service }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  securityContext:
    runAsNonRoot: true
    runAsUser: 1001
    runAsGroup: 1001
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.global.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: test
      image: {{ include "viewmesh.image" (list . $spec.image) }}
      imagePullPolicy: {{ $spec.image.pullPolicy }}
      command:
        - node
        - --input-type=module
        - --eval
        - |
          const { REPLICAS, HOST } = process.env
          for (let ordinal = 0; ordinal < Number(REPLICAS); ordinal += 1) {
            const url = `http://${process.env.BASE}-${ordinal}.${HOST}:8080/health`
            const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) })
            const { status, head, p2p } = await answer.json()
            console.log(url, answer.status, { status, head, peerID: p2p.self?.id })
            if (answer.status !== 200) process.exitCode = 1
          }
      env:
        - name: REPLICAS
          value: {{ $replicas | quote }}
        - name: BASE
          value: {{ include "viewmesh.base" . }}
        - name: HOST
          value: {{ printf "%s-nodes.%s.svc.%s" (include "viewmesh.base" .) .Release.Namespace .Values.clusterDomain }}
      resources:
        requests:
          cpu: 10m
          memory: 64Mi
        limits:
          memory: 256Mi
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
{{- end }}
{{- end -}}
