# The tool servers of the built-in configuration that are programs of others: each in the version
# and with the checksum of deploy/tools/package-lock.json, so that nothing is fetched at run.
FROM node:22-slim AS tools
WORKDIR /tools
COPY deploy/tools/package.json deploy/tools/package-lock.json ./
RUN npm ci --no-audit --no-fund \
    && mkdir bin \
    && cp node_modules/kubernetes-mcp-server-linux-*/bin/kubernetes-mcp-server-linux-* \
        bin/kubernetes-mcp-server \
    && bin/kubernetes-mcp-server --version

FROM python:3.11-slim
# For the hosts that TARSY_OPS_CONFIG names.
RUN apt-get update && apt-get install -y --no-install-recommends openssh-client \
    && rm -rf /var/lib/apt/lists/*
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 LITELLM_LOCAL_MODEL_COST_MAP=True
WORKDIR /app
COPY requirements.txt .
RUN pip install --require-hashes -r requirements.txt
COPY --from=tools /tools/bin/ /usr/local/bin/
COPY . .
RUN useradd --system --no-create-home --shell /usr/sbin/nologin tarsy \
    && mkdir -p /srv/static /app/var && chown tarsy /srv/static /app/var
USER tarsy
