# An execution node for clusters of development and tests: the anvil that `npm ci` installed.
ARG BASE=node:24-slim
FROM ${BASE}
ARG ARCH=amd64
COPY anvil-linux-${ARCH}/bin/anvil /usr/local/bin/anvil
ENV HOME=/tmp
USER 1001:1001
EXPOSE 8545
ENTRYPOINT ["anvil"]
CMD ["--host", "0.0.0.0", "--block-time", "1"]
