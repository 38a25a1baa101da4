FROM python:3.11-slim
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 LITELLM_LOCAL_MODEL_COST_MAP=True
WORKDIR /app
COPY requirements.txt .
RUN pip install --require-hashes -r requirements.txt
COPY . .
RUN useradd --system --no-create-home --shell /usr/sbin/nologin tarsy \
    && mkdir -p /srv/static /app/var && chown tarsy /srv/static /app/var
USER tarsy
